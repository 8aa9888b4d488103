/** Clients that hold connections or requests open without using them: bodies without progress, and limits on what is open. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { Type } from "typebox";
import { operation } from "../../src/api/operation.ts";
import { schema } from "../../src/api/schema.ts";
import { ConnectionLimits } from "../../src/http/connection-limits.ts";
import { OpenRequests } from "../../src/http/open-requests.ts";
import { route } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

/** Answers when it may. */
function gated(gate: Promise<void>) {
  return route(
    operation({
      id: "gated",
      method: "POST",
      path: "/v1/gated",
      tag: "Test",
      summary: "Gated",
      permission: "inference",
      body: schema(Type.Object({}, { additionalProperties: true })),
      answer: { type: "application/json", description: "Nothing." },
    }),
    async () => {
      await gate;
      return { kind: "json", value: {} };
    },
  );
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8");
  await once(socket, "connect");
  return socket;
}

const headOf = (length: number): string =>
  `POST /v1/gated HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testSecret}\r\nContent-Length: ${length}\r\n\r\n`;

describe("a request body without progress", () => {
  const settings = { body_idle_timeout_ms: 200 };

  test("ends the request with 408 and the connection", async () => {
    await using server = await startTestHttp({ routes: [gated(Promise.resolve())], settings });
    const socket = await opened(server.port);
    socket.write(`${headOf(100)}{"a":`);
    const answer = (await socket.toArray()).join("");
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /connection: close/i);
    assert.match(answer, /"message":"The rest of the request's body did not arrive in time\."/);
    await server.untilFinished(1);
    assert.equal(server.finished[0]!.outcome, "timeout");
  });

  test("does not end one that goes on slowly", async () => {
    await using server = await startTestHttp({ routes: [gated(Promise.resolve())], settings });
    const socket = await opened(server.port);
    socket.write(headOf(12));
    for (const part of ['{"', "a", '":', '"bcd', '"  ', "}"].map((each) => each.padEnd(2))) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    socket.end();
    assert.doesNotMatch((await socket.toArray()).join(""), /^HTTP\/1\.1 408 /);
  });

  test("counts only until the body is complete", async () => {
    const gate = Promise.withResolvers<void>();
    await using server = await startTestHttp({ routes: [gated(gate.promise)], settings });
    const answer = fetch(`${server.url}/v1/gated`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/json" },
    });
    setTimeout(gate.resolve, 500);
    assert.equal((await answer).status, 200);
  });
});

describe("what one organization has open", () => {
  test("is bounded", async () => {
    const gate = Promise.withResolvers<void>();
    const openRequests = new OpenRequests(2);
    await using server = await startTestHttp({ routes: [gated(gate.promise)], openRequests });
    const post = (): Promise<Response> =>
      fetch(`${server.url}/v1/gated`, {
        method: "POST",
        body: "{}",
        headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/json" },
      });
    const [first, second] = [await begun(post), await begun(post)];
    assert.equal(openRequests.count, 2);
    const third = await post();
    assert.equal(third.status, 429);
    assert.match(await third.text(), /This organization has 2 requests open/);
    gate.resolve();
    assert.deepEqual([(await first()).status, (await second()).status], [200, 200]);
    assert.equal((await post()).status, 200);
    await server.untilFinished(4);
    assert.equal(openRequests.count, 0);

    async function begun(start: () => Promise<Response>): Promise<() => Promise<Response>> {
      const before = openRequests.count;
      const answer = start();
      while (openRequests.count === before) await new Promise((resolve) => setImmediate(resolve));
      return () => answer;
    }
  });
});

describe("connections beyond a limit are closed, and the others are served", () => {
  const limitsOf = (settings: object, warned: object[] = []): ConnectionLimits =>
    new ConnectionLimits(
      { max_connections: 8, max_connections_per_client: 3, trusted_proxies: [], ...settings },
      { warn: (fields, message) => void warned.push({ ...fields, message }) },
    );

  test("per client, with one warning", async () => {
    const warned: object[] = [];
    const connectionLimits = limitsOf({}, warned);
    await using server = await startTestHttp({ routes: [], connectionLimits });
    const kept = [await opened(server.port), await opened(server.port), await opened(server.port)];
    for (let each = 0; each < 5; each += 1) assert.deepEqual(await (await opened(server.port)).toArray(), []);
    assert.deepEqual([connectionLimits.count, connectionLimits.refused], [3, 5]);
    assert.deepEqual(warned, [
      {
        connections: 3,
        refused: 1,
        client_address: "127.0.0.1",
        message:
          "connections are refused: a client has 3 open, which is the limit of server.max_connections_per_client",
      },
    ]);
    kept[0]!.destroy();
    while (connectionLimits.count > 2) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await fetch(`${server.url}/nothing`)).status, 404);
    for (const socket of kept) socket.destroy();
  });

  test("in total, also those of a trusted proxy", async () => {
    const connectionLimits = limitsOf({ trusted_proxies: ["loopback"] });
    await using server = await startTestHttp({ routes: [], connectionLimits });
    const kept = await Promise.all(Array.from({ length: 8 }, () => opened(server.port)));
    assert.deepEqual(await (await opened(server.port)).toArray(), []);
    assert.deepEqual([connectionLimits.count, connectionLimits.refused], [8, 1]);
    for (const socket of kept) socket.destroy();
  });
});
