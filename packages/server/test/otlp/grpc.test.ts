/** OTLP/gRPC from outside, call by call: statuses, details, limits, deadlines, and shutdown. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { type AddressInfo, connect as tcpConnect, createServer, type Socket } from "node:net";
import { describe, test } from "node:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { parseContentKey } from "../../src/encryption/content-cipher.ts";
import { createTelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { AppError } from "../../src/errors.ts";
import { OpenRequests } from "../../src/http/open-requests.ts";
import { testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { attribute, logRequest, spanRequest } from "./example-requests.ts";
import { decode, encode } from "./oracle.ts";
import { startOtlp } from "./otlp-server.ts";

const traces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const logs = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/** https://www.rfc-editor.org/rfc/rfc9113#section-3.4 */
const prefaceAndSettings = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");

function frame(message: Uint8Array, compressed = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = compressed;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Sends each byte as a segment of its own. */
async function sendByteByByte(bytes: Buffer, socket: Socket): Promise<void> {
  for (const byte of bytes) {
    await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Answer {
  readonly status: string;
  readonly message: string;
  readonly details: { code?: number; details?: { typeUrl: string; value: string }[] } | undefined;
  /** The answer's frame. */
  readonly body: Buffer;
}

/** One unary call; the status may be in the headers or the trailers. */
async function call(
  session: ClientHttp2Session,
  path: string,
  sent: Uint8Array,
  headers: object = {},
): Promise<Answer> {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc+proto",
    te: "trailers",
    authorization: `Bearer ${testSecret}`,
    ...headers,
  });
  stream.on("error", () => {});
  const all: Record<string, string | undefined> = {};
  const chunks: Buffer[] = [];
  stream.on("response", (each) => Object.assign(all, each));
  stream.on("trailers", (each) => Object.assign(all, each));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.end(sent);
  await once(stream, "close");
  const details = all["grpc-status-details-bin"];
  return {
    status: String(all["grpc-status"]),
    message: decodeURIComponent(all["grpc-message"] ?? ""),
    details: details === undefined ? undefined : decode("RpcStatus", Buffer.from(details, "base64")),
    body: Buffer.concat(chunks),
  };
}

async function startCalls(options: Parameters<typeof startOtlp>[0] = {}) {
  const server = await startOtlp(options);
  const session = connect(server.grpcUrl);
  session.on("error", () => {});
  return {
    server,
    session,
    call: (path: string, sent: Uint8Array, headers: object = {}) => call(session, path, sent, headers),
    async [Symbol.asyncDispose]() {
      session.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

const span = () => encode("ExportTraceServiceRequest", spanRequest());

describe("a call", () => {
  test("with recorded content is encrypted", async () => {
    const cipher = createTelemetryCipher([parseContentKey("0".repeat(64))!]);
    await using calls = await startCalls({ cipher });
    const sent = { attributes: [attribute("gen_ai.prompt", "whisper"), attribute("visible", "shout")] };
    const answer = await calls.call(traces, frame(encode("ExportTraceServiceRequest", spanRequest(sent))));
    assert.equal(answer.status, "0");
    const { batches } = calls.server.store;
    const isWritten = (text: string): boolean => batches.some(({ block }) => Buffer.from(block).includes(text));
    assert.deepEqual([isWritten("whisper"), isWritten("shout")], [false, true]);
  });

  test("is answered with an empty message and the status 0", async () => {
    await using calls = await startCalls();
    const answer = await calls.call(traces, frame(span()));
    assert.deepEqual([answer.status, answer.body], ["0", frame(new Uint8Array())]);
    assert.equal(calls.server.store.rows("spans").length, 1);
    assert.deepEqual(
      calls.server.calls.map(({ operation, status }) => [operation, status]),
      [["grpc_export_traces", 200]],
    );
  });

  test("may be compressed, or uncompressed although compression is declared", async () => {
    await using calls = await startCalls();
    const headers = { "grpc-encoding": "gzip" };
    assert.equal((await calls.call(traces, frame(gzipSync(span()), 1), headers)).status, "0");
    assert.equal((await calls.call(traces, frame(span(), 0), headers)).status, "0");
    const others = { deflate: deflateSync(span()), zstd: zstdCompressSync(span()) };
    for (const [encoding, bytes] of Object.entries(others)) {
      assert.equal((await calls.call(traces, frame(bytes, 1), { "grpc-encoding": encoding })).status, "0", encoding);
    }
    assert.equal(calls.server.store.rows("spans").length, 4);
  });

  test("may have the key as the password of Basic authentication", async () => {
    await using calls = await startCalls();
    const status = async (password: string): Promise<string> => {
      const authorization = `Basic ${Buffer.from(`collector:${password}`).toString("base64")}`;
      return (await calls.call(traces, frame(span()), { authorization })).status;
    };
    assert.deepEqual([await status(testSecret), await status("sk-wrong")], ["0", "16"]);
  });

  test("that is partially accepted reports what was rejected", async () => {
    await using calls = await startCalls();
    const answer = await calls.call(traces, frame(encode("ExportTraceServiceRequest", spanRequest({ traceId: "" }))));
    assert.equal(answer.status, "0");
    const { partialSuccess } = decode("ExportResponse", answer.body.subarray(5)) as {
      partialSuccess: { rejected: string };
    };
    assert.equal(partialSuccess.rejected, "1");
  });

  test("of many concurrent ones on one connection is answered", async () => {
    await using calls = await startCalls();
    const answers = await Promise.all(Array.from({ length: 50 }, () => calls.call(traces, frame(span()))));
    assert.ok(answers.every(({ status }) => status === "0"));
    assert.equal(calls.server.store.rows("spans").length, 50);
  });
});

describe("a call is refused", () => {
  test("with RetryInfo when the store's queue is full", async () => {
    await using calls = await startCalls();
    calls.server.store.beforeAppend = () => {
      throw new AppError("rate_limited", "The queue of this organization is full: 100 %.", { retryAfterMs: 1500 });
    };
    const answer = await calls.call(logs, frame(encode("ExportLogsServiceRequest", logRequest())));
    assert.deepEqual([answer.status, answer.message], ["8", "The queue of this organization is full: 100 %."]);
    const [detail] = answer.details?.details ?? [];
    assert.equal(detail?.typeUrl, "type.googleapis.com/google.rpc.RetryInfo");
    const info = decode("RetryInfo", Buffer.from(detail?.value ?? "", "base64"));
    assert.deepEqual(info, { retryDelay: { seconds: "1", nanos: 500_000_000 } });
  });

  test("before its message is read when a limit of the key is reached", async () => {
    let running = 0;
    const admit = () => {
      if (running > 0) throw new AppError("rate_limited", "One is running.", { retryAfterMs: 2500 });
      running += 1;
      return { charge: () => {}, headers: () => ({}), settle: () => void (running -= 1) };
    };
    await using calls = await startCalls({ admit });
    const { store } = calls.server;
    const stored = Promise.withResolvers<void>();
    const appending = new Promise<void>((resolve) => {
      store.beforeAppend = () => {
        resolve();
        return stored.promise;
      };
    });
    const first = calls.call(traces, frame(span()));
    await appending;
    // An unreadable message would be refused for that.
    const refused = await calls.call(traces, Buffer.from("no message"));
    assert.deepEqual([refused.status, refused.message], ["8", "One is running."]);
    const [detail] = refused.details?.details ?? [];
    const info = decode("RetryInfo", Buffer.from(detail?.value ?? "", "base64"));
    assert.deepEqual(info, { retryDelay: { seconds: "2", nanos: 500_000_000 } });
    stored.resolve();
    assert.equal((await first).status, "0");
    assert.equal((await calls.call(traces, frame(span()))).status, "0");
    assert.equal(running, 0);
  });

  test("as unavailable, with RetryInfo, when the store is down", async () => {
    await using calls = await startCalls();
    calls.server.store.beforeAppend = () => Promise.reject(new AppError("overloaded", "The store is down."));
    const answer = await calls.call(traces, frame(span()));
    assert.equal(answer.status, "14");
    assert.equal(answer.details?.details?.length, 1);
  });

  const cases: [string, string, string, Uint8Array, object?][] = [
    ["as unauthenticated without a key", "16", traces, frame(new Uint8Array()), { authorization: "" }],
    ["as unauthenticated with an unknown key", "16", traces, frame(new Uint8Array()), { authorization: "Bearer sk-x" }],
    ["as unimplemented when there is no such method", "12", "/other.Service/Export", frame(new Uint8Array())],
    [
      "as unimplemented with an unknown compression",
      "12",
      traces,
      frame(new Uint8Array(), 1),
      { "grpc-encoding": "snappy" },
    ],
    ["as an invalid argument with malformed bytes", "3", traces, frame(Buffer.from([7]))],
    ["as an invalid argument with a cut message", "3", traces, frame(span()).subarray(0, 20)],
    ["as an invalid argument with two messages", "3", traces, Buffer.concat([frame(span()), frame(span())])],
    ["as an invalid argument with no message", "3", traces, new Uint8Array()],
    ["as an invalid argument when it is compressed without saying how", "3", traces, frame(gzipSync(span()), 1)],
    ["as an invalid argument with garbled gzip", "3", traces, frame(span(), 1), { "grpc-encoding": "gzip" }],
    ["as exhausted when it is too large", "8", traces, frame(Buffer.alloc(200_000))],
    [
      "as exhausted when it is too large after decompression",
      "8",
      traces,
      frame(gzipSync(Buffer.alloc(9_000_000)), 1),
      { "grpc-encoding": "gzip" },
    ],
  ];
  for (const [title, status, path, sent, headers] of cases) {
    test(title, async () => {
      await using calls = await startCalls({ limitBytes: 100_000 });
      const answer = await calls.call(path, sent, headers);
      assert.equal(answer.status, status, answer.message);
      assert.equal(answer.details?.code, Number(status) === 12 && path === traces ? 3 : Number(status));
      assert.deepEqual(calls.server.store.batches, []);
    });
  }

  test("as denied when the key may not write", async () => {
    await using calls = await startCalls({ key: testKey({ permissions: new Set(["telemetry_read"]) }) });
    assert.equal((await calls.call(traces, frame(span()))).status, "7");
  });

  test("after its deadline when the client's timeout expires", async () => {
    await using calls = await startCalls();
    const { promise: never, resolve: release } = Promise.withResolvers<void>();
    calls.server.store.beforeAppend = () => never;
    const answer = await calls.call(traces, frame(span()), { "grpc-timeout": "50m" });
    release();
    assert.equal(answer.status, "4");
  });
});

describe("a connection with HTTP/2", () => {
  test("shares the port with HTTP/1.1, however its first bytes are divided", async () => {
    await using server = await startOtlp();
    const port = Number(new URL(server.url).port);
    const relay = createServer((near) => {
      const far = tcpConnect(port, "127.0.0.1");
      far.setNoDelay(true);
      far.pipe(near);
      near
        .on("error", () => {})
        .once("data", (first: Buffer) => {
          near.pause();
          void sendByteByByte(first, far).then(() => near.pipe(far));
        });
    }).listen(0, "127.0.0.1");
    await once(relay, "listening");
    const session = connect(`http://127.0.0.1:${(relay.address() as AddressInfo).port}`);
    assert.equal((await call(session, traces, frame(span()))).status, "0");
    session.destroy();
    relay.close();
    assert.equal((await server.post("/v1/traces", span())).status, 200);
    assert.equal(server.store.rows("spans").length, 2);
  });

  test("is also accepted on a port of its own", async () => {
    await using server = await startOtlp();
    const session = connect(`http://127.0.0.1:${await server.listenForGrpc()}`);
    assert.equal((await call(session, traces, frame(span()))).status, "0");
    session.destroy();
  });

  for (const port of ["shared", "own"]) {
    test(`whose client has closed its end is closed, on the ${port} port`, async () => {
      await using server = await startOtlp();
      const number = port === "own" ? await server.listenForGrpc() : Number(new URL(server.url).port);
      const gone = tcpConnect({ host: "127.0.0.1", port: number, allowHalfOpen: true });
      gone.resume().end(prefaceAndSettings);
      await once(gone, "end");
      gone.destroy();
    });
  }

  test("that has no calls for a while is closed, after GOAWAY", async () => {
    await using calls = await startCalls({ keepAliveTimeoutMs: 200 });
    const goAway = once(calls.session, "goaway");
    const closed = once(calls.session, "close");
    await Promise.all([goAway, closed]);
  });

  test("ends a call whose message does not arrive", async () => {
    await using calls = await startCalls({ bodyIdleTimeoutMs: 200 });
    const stream = calls.session.request({
      ":method": "POST",
      ":path": traces,
      "content-type": "application/grpc",
      authorization: `Bearer ${testSecret}`,
    });
    stream.write(frame(span()).subarray(0, 10));
    const [headers] = (await once(stream, "response")) as [{ "grpc-status": string; "grpc-message": string }];
    assert.equal(headers["grpc-status"], "4");
    assert.equal(headers["grpc-message"], "The rest of this call's message did not arrive in time.");
  });

  test("has a limited number of open calls with all others of its organization", async () => {
    const openRequests = new OpenRequests(3);
    await using calls = await startCalls({ openRequests });
    const open = Array.from({ length: 3 }, () =>
      calls.session.request({
        ":method": "POST",
        ":path": traces,
        "content-type": "application/grpc",
        authorization: `Bearer ${testSecret}`,
      }),
    );
    while (openRequests.count < 3) await new Promise((resolve) => setImmediate(resolve));
    const refused = await calls.call(traces, frame(span()));
    assert.deepEqual([refused.status, /has 3 requests open/.test(refused.message)], ["8", true]);
    for (const stream of open) stream.close(8);
    while (openRequests.count > 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await calls.call(traces, frame(span()))).status, "0");
  });

  test("keeps a call that takes longer than the time for which it may be idle", async () => {
    await using calls = await startCalls({ keepAliveTimeoutMs: 50 });
    const { promise: stored, resolve: release } = Promise.withResolvers<void>();
    calls.server.store.beforeAppend = () => stored;
    const goAway = once(calls.session, "goaway");
    const running = calls.call(traces, frame(span()));
    await goAway;
    release();
    assert.equal((await running).status, "0");
  });

  test("that does not speak gRPC is told to use HTTP/1.1", async () => {
    await using calls = await startCalls();
    const stream = calls.session.request({ ":method": "GET", ":path": "/v1/models" });
    const [headers] = (await once(stream, "response")) as [{ ":status": number }];
    assert.equal(headers[":status"], 415);
    assert.match((await stream.toArray()).join(""), /use HTTP\/1\.1/);
  });
});

describe("when the server stops", () => {
  test("a connection that has not sent anything is closed", async () => {
    const server = await startOtlp();
    const silent = tcpConnect(Number(new URL(server.url).port), "127.0.0.1");
    await once(silent, "connect");
    const closed = once(
      silent.on("error", () => {}),
      "close",
    );
    await server[Symbol.asyncDispose]();
    await closed;
  });

  test("clients receive GOAWAY, and a running call still completes", async () => {
    await using calls = await startCalls();
    const { promise: stored, resolve: release } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    calls.server.store.beforeAppend = () => {
      reach();
      return stored;
    };
    const running = calls.call(traces, frame(span()));
    await reached;
    const goAway = once(calls.session, "goaway");
    const closed = calls.server.closeGrpc();
    await goAway;
    release();
    assert.equal((await running).status, "0");
    await closed;
  });

  test("a call that does not end is aborted", async () => {
    await using calls = await startCalls({ shutdownTimeoutMs: 50 });
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const { promise: never, resolve: release } = Promise.withResolvers<void>();
    calls.server.store.beforeAppend = () => {
      reach();
      return never;
    };
    const running = calls.call(traces, frame(span()));
    await reached;
    await calls.server.closeGrpc();
    assert.notEqual((await running).status, "0");
    release();
  });
});
