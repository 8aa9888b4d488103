/** Where the server listens, and its errors when it cannot. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { listen } from "../../src/http/listen.ts";
import { startTestHttp } from "../support/test-http.ts";

// Other systems have no 127.0.0.2.
test(
  "localhost is every address of that name, and closing closes them all",
  { skip: process.platform !== "linux" },
  async () => {
    const server = createServer((_request, response) => void response.end("served"));
    const addresses = ["127.0.0.1", "127.0.0.2"];
    const listener = await listen(server, { host: "localhost", port: 0 }, async () => addresses);
    const urls = addresses.map((address) => `http://${address}:${listener.port}/`);
    for (const url of urls) assert.equal(await (await fetch(url)).text(), "served", url);
    await listener.close();
    for (const url of urls) await assert.rejects(fetch(url), url);
  },
);

test("localhost works if only one of its addresses is available", async () => {
  const server = createServer((_request, response) => void response.end("served"));
  const listener = await listen(server, { host: "localhost", port: 0 }, async () => ["127.0.0.1", "192.0.2.1"]);
  assert.equal(await (await fetch(`http://localhost:${listener.port}/`)).text(), "served");
  await listener.close();
});

test("a port in use is named in the error, with the settings to change", async () => {
  await using first = await startTestHttp({ routes: [] });
  await assert.rejects(startTestHttp({ routes: [], settings: { port: first.port } }), {
    name: "AppError",
    message: `The server cannot listen on 127.0.0.1, port ${first.port}: another program uses this port. See server.host and server.port.`,
  });
});
