import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { operation } from "../../src/api/operation.ts";
import { AppError } from "../../src/errors.ts";
import type { KeyCheck } from "../../src/http/authenticate.ts";
import { route, type SocketInput, type ServeSocket } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";

const listen = operation<never, unknown>({
  id: "listen",
  method: "GET",
  path: "/listen/{name}",
  tag: "Test",
  summary: "Listen",
  permission: "telemetry_read",
  answer: { type: "text/plain", description: "Text." },
});

/** Serves until the signal fires. */
const untilAborted: (input: SocketInput) => ServeSocket =
  ({ signal }) =>
  async () => {
    if (!signal.aborted) await once(signal, "abort");
    throw signal.reason;
  };

type Options = Partial<Parameters<typeof startTestHttp>[0]>;

function start(upgrade: (input: SocketInput) => ServeSocket | Promise<ServeSocket>, options: Options = {}) {
  const plain = () => ({ kind: "text", text: "no WebSocket", type: "text/plain" }) as const;
  return startTestHttp({ routes: [route<never>(listen, plain, { upgrade })], ...options });
}

function open(url: string, headers: Record<string, string> = {}, protocolVersion = 13): WebSocket {
  return new WebSocket(`${url.replace("http", "ws")}/listen/a?x=1`, {
    headers: { authorization: `Bearer ${testSecret}`, ...headers },
    protocolVersion,
  });
}

async function closeOf(socket: WebSocket): Promise<[code: number, reason: string]> {
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  return [code, reason.toString("utf8")];
}

/** The HTTP response to a handshake that the server refuses. */
async function refusalOf(socket: WebSocket): Promise<{ status: number; body: string; headers: object }> {
  const [, response] = (await once(socket, "unexpected-response")) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number; headers: object },
  ];
  const chunks = await Array.fromAsync(response);
  return {
    status: response.statusCode,
    body: Buffer.concat(chunks).toString("utf8"),
    headers: response.headers,
  };
}

describe("a route with a WebSocket", () => {
  test("gets the request's parts, sends messages, and closes when it is done", async () => {
    await using http = await start(({ path, query, scope }) => async (socket) => {
      socket.send(JSON.stringify({ ...path, x: query.get("x"), organization: scope.organizationId }));
    });
    const socket = open(http.url, { "x-request-id": "req-1" });
    const [[message], [code], [response]] = (await Promise.all([
      once(socket, "message"),
      closeOf(socket),
      once(socket, "upgrade"),
    ])) as unknown as [[Buffer], [number], [{ headers: Record<string, string> }]];
    assert.deepEqual(JSON.parse(message.toString("utf8")), { name: "a", x: "1", organization: "org_test" });
    assert.equal(code, 1000);
    assert.equal(response.headers["x-request-id"], "req-1");
    await http.untilFinished(1);
    assert.deepEqual([http.finished[0]!.status, http.finished[0]!.outcome], [101, "ok"]);
  });

  test("serves a request without an upgrade like any other", async () => {
    await using http = await start(untilAborted);
    const response = await fetch(`${http.url}/listen/a`, { headers: { authorization: `Bearer ${testSecret}` } });
    assert.equal(await response.text(), "no WebSocket");
  });

  test("refuses a wrong key, a missing permission and a bad handshake with an HTTP error", async () => {
    const checkKey: KeyCheck = (secret) => {
      if (secret === testSecret) return testKey();
      if (secret === "sk-none") return testKey({ permissions: new Set() });
      throw new AppError("invalid_api_key", "The API key is not known.");
    };
    await using http = await start(untilAborted, { checkKey });
    const wrong = await refusalOf(open(http.url, { authorization: "Bearer sk-wrong" }));
    assert.equal(wrong.status, 401);
    assert.match(wrong.body, /The API key is not known/);
    assert.ok("x-request-id" in wrong.headers);
    assert.equal((await refusalOf(open(http.url, { authorization: "Bearer sk-none" }))).status, 403);
    const old = await refusalOf(open(http.url, {}, 8));
    assert.equal(old.status, 400);
    assert.match(old.body, /Sec-WebSocket-Version: 13/);
    const odd = await refusalOf(open(http.url, { "sec-websocket-protocol": "a b" }));
    assert.equal(odd.status, 400);
    assert.match(odd.body, /Sec-WebSocket-Protocol/);
    assert.ok("x-request-id" in odd.headers);
    await http.untilFinished(4);
    assert.deepEqual(
      http.finished.map(({ status }) => status),
      [401, 403, 400, 400],
    );
  });

  test("turns an error before the upgrade into an HTTP error, and one after it into a close frame", async () => {
    await using http = await start(({ query }) => {
      if (query.has("x")) throw new AppError("invalid_request", "x is not allowed.");
      return () => Promise.reject(new AppError("timeout", "The query took too long."));
    });
    const refused = await refusalOf(open(http.url));
    assert.equal(refused.status, 400);
    assert.match(refused.body, /x is not allowed/);
    const headers = { authorization: `Bearer ${testSecret}` };
    const closed = await closeOf(new WebSocket(`${http.url.replace("http", "ws")}/listen/b`, { headers }));
    assert.deepEqual(closed, [1011, "The query took too long."]);
  });

  test("ends when the client closes the connection, or cuts it", async () => {
    const ended: unknown[] = [];
    await using http = await start((input) => async (socket) => {
      socket.send("open");
      await untilAborted(input)(socket).catch((error: unknown) => ended.push(error));
      throw input.signal.reason;
    });
    const polite = open(http.url);
    await once(polite, "message");
    polite.close(1000);
    await http.untilFinished(1);
    const rude = open(http.url);
    await once(rude, "message");
    rude.terminate();
    await http.untilFinished(2);
    assert.equal(ended.length, 2);
    assert.deepEqual(
      http.finished.map(({ outcome, status }) => [outcome, status]),
      [
        ["ok", 101],
        ["client_closed", 499],
      ],
    );
  });

  test("is closed with the code 1008 once its key is revoked", async () => {
    let revoked = false;
    const checkKey: KeyCheck = () => {
      if (revoked) throw new AppError("invalid_api_key", "The API key was revoked.");
      return testKey();
    };
    await using http = await start(untilAborted, { checkKey });
    const socket = open(http.url);
    await once(socket, "open");
    revoked = true;
    assert.deepEqual(await closeOf(socket), [1008, "The API key was revoked."]);
    await http.untilFinished(1);
    assert.equal(http.finished[0]!.outcome, "invalid_api_key");
  });

  test("is closed with the code 1001 at once when the server stops", async () => {
    const http = await start(untilAborted, { settings: { shutdown_timeout_ms: 60_000 } });
    const socket = open(http.url);
    await once(socket, "open");
    const [[code]] = await Promise.all([closeOf(socket), http.close()]);
    assert.equal(code, 1001);
  });

  test("is refused if the server stops while the request is checked", async () => {
    const prepared = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const prepare = async (input: SocketInput): Promise<ServeSocket> => {
      reached.resolve();
      await prepared.promise;
      return untilAborted(input);
    };
    const http = await start(prepare, { settings: { shutdown_timeout_ms: 60_000 } });
    const refusal = refusalOf(open(http.url));
    await reached.promise;
    const closed = http.close();
    prepared.resolve();
    assert.equal((await refusal).status, 503);
    await closed;
  });

  test("does not wait for a client that ignores the close frame", async () => {
    const http = await start(untilAborted);
    const socket = open(http.url);
    await once(socket, "open");
    socket.pause();
    await http.close();
  });

  test("disconnects a client that answers no pings, and keeps one that does", async () => {
    await using http = await start(untilAborted, { settings: { heartbeat_interval_ms: 20 } });
    const awake = open(http.url);
    const headers = { authorization: `Bearer ${testSecret}` };
    const asleep = new WebSocket(`${http.url.replace("http", "ws")}/listen/a`, { headers, autoPong: false });
    const [code] = await closeOf(asleep);
    assert.equal(code, 1006);
    assert.equal(awake.readyState, WebSocket.OPEN);
    awake.close();
    await once(awake, "close");
  });

  test("refuses a large message", async () => {
    await using http = await start(untilAborted);
    const socket = open(http.url);
    await once(socket, "open");
    socket.send("x".repeat(10_000));
    assert.equal((await closeOf(socket))[0], 1009);
  });

  test("does not accept the cookie of a session from a page of another origin", async () => {
    const session = { sessionId: "s1", key: testKey(), operatorKey: undefined, expiresAt: 4e9 };
    const sessions = { cookie: { read: () => "secret" }, check: () => session } as never;
    await using http = await start(() => async (socket) => socket.send("in"), { sessions });
    const url = `${http.url.replace("http", "ws")}/listen/a`;
    const from = (origin: string) => new WebSocket(url, { headers: { cookie: "c=secret" }, origin });
    assert.equal((await refusalOf(from("https://elsewhere.example"))).status, 403);
    const [message] = (await once(from(http.url), "message")) as [Buffer];
    assert.equal(message.toString("utf8"), "in");
  });
});

test("an upgrade to another protocol is ignored", async () => {
  await using http = await start(untilAborted);
  const socket = connect(http.port, "127.0.0.1");
  socket.end(
    `GET /listen/a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${testSecret}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n`,
  );
  const chunks = await Array.fromAsync(socket as AsyncIterable<Buffer>);
  assert.match(Buffer.concat(chunks).toString("utf8"), /^HTTP\/1.1 200 OK[^]*no WebSocket/);
});
