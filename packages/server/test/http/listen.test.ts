/** Where the server listens, and its errors when it cannot. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { bindPort } from "../../src/http/listen.ts";
import { startTestHttp } from "../support/test-http.ts";
import { onlyOnLinux } from "../../../../test/support/needs.ts";

// Other systems have no 127.0.0.2.
test("localhost is every address of that name, and closing closes them all", { skip: onlyOnLinux }, async () => {
  const server = createServer((_request, response) => void response.end("served"));
  const addresses = ["127.0.0.1", "127.0.0.2"];
  const listener = await bindPort({ host: "localhost", port: 0 }, async () => addresses);
  await listener.serve(server);
  const urls = addresses.map((address) => `http://${address}:${listener.port}/`);
  for (const url of urls) assert.equal(await (await fetch(url)).text(), "served", url);
  await listener.close();
  for (const url of urls) await assert.rejects(fetch(url), url);
});

test("localhost works if only one of its addresses is available", async () => {
  const server = createServer((_request, response) => void response.end("served"));
  const listener = await bindPort({ host: "localhost", port: 0 }, async () => ["127.0.0.1", "192.0.2.1"]);
  await listener.serve(server);
  assert.equal(await (await fetch(`http://localhost:${listener.port}/`)).text(), "served");
  await listener.close();
});

test("a port in use is named in the error, with the settings to change", async () => {
  await using first = await startTestHttp({ routes: [] });
  await assert.rejects(startTestHttp({ routes: [], settings: { port: first.port } }), {
    name: "AppError",
    message: `The server cannot listen on 127.0.0.1, port ${first.port}: another program uses it. Stop it, or set another port with --port, server.port or SOUNDING_PORT.`,
  });
});

test("connections wait for the server after the port is bound", async () => {
  const bound = await bindPort({ host: "127.0.0.1", port: 0 });
  const early = fetch(`http://127.0.0.1:${bound.port}/`);
  const gone = connect(bound.port, "127.0.0.1");
  await once(gone, "connect");
  gone.resetAndDestroy();
  const server = createServer((_request, response) => void response.end("served"));
  await bound.serve(server);
  assert.equal(await (await early).text(), "served");
  assert.equal(await (await fetch(`http://127.0.0.1:${bound.port}/`)).text(), "served");
  await bound.close();
});

test("a bound port is released if no server takes it", async () => {
  const bound = await bindPort({ host: "127.0.0.1", port: 0 });
  const waiting = connect(bound.port, "127.0.0.1");
  await once(waiting, "connect");
  const ended = once(waiting, "close");
  await bound.close();
  await ended;
  const again = await bindPort({ host: "127.0.0.1", port: bound.port });
  await again.close();
});
