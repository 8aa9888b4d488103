/** Unusual use of the connection: odd headers, endless bodies, half-closed and pipelined connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { Type } from "typebox";
import { operation } from "../../src/api/operation.ts";
import { schema } from "../../src/api/schema.ts";
import { route, type RouteResponse, type RouteInput } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

type Serve = (input: RouteInput<{ value?: string }>) => RouteResponse | Promise<RouteResponse>;

const echo = (serve: Serve = ({ body }) => ({ kind: "json", value: body })) =>
  route(
    operation({
      id: "echo",
      method: "POST",
      path: "/v1/echo",
      tag: "Test",
      summary: "Echo",
      permission: "inference",
      body: schema(Type.Object({ value: Type.Optional(Type.String()) })),
      answer: { type: "application/json", description: "The body." },
    }),
    serve,
  );

const authorization = `authorization: Bearer ${testSecret}\r\n`;

function post(body: string, headers = authorization): string {
  return `POST /v1/echo HTTP/1.1\r\nhost: x\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Collects the bytes received until the connection is closed. */
async function received(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("error", () => {});
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  return received(socket);
}

describe("a request whose headers are ambiguous is refused, and its connection closed", () => {
  const many = Array.from({ length: 2500 }, () => "a:\r\n").join("");
  const requests: [name: string, bytes: string, says: RegExp][] = [
    [
      "two Authorization headers",
      post("{}", authorization + authorization),
      /header authorization is sent more than once/,
    ],
    ["two Host headers", post("{}", `${authorization}Host: y\r\n`), /header host is sent more than once/],
    [
      "two api-key headers",
      post("{}", `api-key: ${testSecret}\r\nAPI-Key: x\r\n`),
      /header api-key is sent more than once/,
    ],
    [
      "two content types",
      post("{}", `${authorization}content-type: text/plain\r\n`),
      /header content-type is sent more than once/,
    ],
    [
      "two projects",
      post("{}", `${authorization}x-project: a\r\nx-project: b\r\n`),
      /header x-project is sent more than once/,
    ],
    ["two lengths", post("{}", `${authorization}content-length: 2\r\n`), /not valid HTTP\/1\.1/],
    [
      "a second Authorization header after 2500 others",
      post("{}", `${authorization}${many}${authorization}`),
      /header authorization is sent more than once/,
    ],
    [
      "a transfer coding that is not chunked",
      `POST /v1/echo HTTP/1.1\r\nhost: x\r\n${authorization}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      /transfer-encoding is \\"gzip, chunked\\"; expected chunked/,
    ],
    ["chunked in TE", post("{}", `${authorization}te: gzip, chunked\r\n`), /te is \\"gzip, chunked\\"/],
  ];
  for (const [name, bytes, says] of requests) {
    test(name, async () => {
      await using server = await startTestHttp({ routes: [echo()] });
      const answer = await answerTo(server.port, bytes);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.match(answer, says);
    });
  }
});

/** Writes a body for as long as the connection accepts it. @returns the answer and how much was sent */
async function flood(port: number, head: string, chunked: boolean): Promise<{ answer: string; sentBytes: number }> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const answer = received(socket);
  const piece = Buffer.alloc(65_536, 0x20);
  const framed = chunked ? Buffer.concat([Buffer.from("10000\r\n"), piece, Buffer.from("\r\n")]) : piece;
  socket.write(head);
  let sentBytes = 0;
  while (!socket.destroyed && sentBytes < 1_073_741_824) {
    sentBytes += piece.length;
    if (!socket.write(framed)) {
      await new Promise<void>((settled) => {
        const settle = (): void => {
          socket.off("drain", settle).off("close", settle);
          settled();
        };
        socket.on("drain", settle).on("close", settle);
      });
    }
  }
  socket.destroy();
  return { answer: await answer, sentBytes };
}

describe("an endless body is not read", { concurrency: true }, () => {
  const start = "POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
  const floods: [name: string, head: string, chunked: boolean, status: number][] = [
    ["without a key", `${start}transfer-encoding: chunked\r\n\r\n`, true, 401],
    ["with a declared length and no key", `${start}content-length: 10737418240\r\n\r\n`, false, 401],
    ["beyond the limit", `${start}${authorization}content-length: 10737418240\r\n\r\n`, false, 413],
    ["beyond the limit, of unknown length", `${start}${authorization}transfer-encoding: chunked\r\n\r\n`, true, 413],
    [
      "at a path where nothing is",
      "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
      true,
      404,
    ],
  ];
  for (const [name, head, chunked, status] of floods) {
    test(name, async () => {
      await using server = await startTestHttp({ routes: [echo()], settings: { max_json_body_bytes: 100_000 } });
      const { answer, sentBytes } = await flood(server.port, head, chunked);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(answer, /\r\nconnection: close\r\n/i);
      // The capacity of the kernel's buffers on both sides.
      assert.ok(sentBytes < 67_108_864, `${sentBytes} bytes were taken`);
    });
  }

  test("a client that reads only after it has sent a long body still gets the refusal", async () => {
    await using server = await startTestHttp({ routes: [echo()], settings: { max_json_body_bytes: 100_000 } });
    // More than the kernel's buffers on both sides take.
    const body = Buffer.alloc(25_000_000, 0x20);
    const socket = connect(server.port, "127.0.0.1").pause();
    await new Promise<void>((sent, broken) => {
      socket.once("error", broken).write(`${start}${authorization}content-length: ${body.length}\r\n\r\n`);
      socket.write(body, () => sent());
    });
    assert.match(await received(socket), /^HTTP\/1\.1 413 /);
  });

  test("a refused request with a small body keeps its connection reusable", async () => {
    await using server = await startTestHttp({ routes: [echo()] });
    const wrong = post('{"value":"first"}', "authorization: Bearer sk-wrong\r\n");
    const right = post('{"value":"second"}', `${authorization}connection: close\r\n`);
    const answer = await answerTo(server.port, wrong + right);
    assert.match(answer, /^HTTP\/1\.1 401 [^]*HTTP\/1\.1 200 [^]*\{"value":"second"\}$/);
  });
});

describe("a client that half-closes its connection", () => {
  test("after its request gets its response", async () => {
    await using server = await startTestHttp({ routes: [echo()] });
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.end(post('{"value":"half"}'));
    assert.match(await received(socket), /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)*HTTP\/1\.1 200 [^]*\{"value":"half"\}$/);
  });

  test("gets a slow response too", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = echo(async ({ body }) => {
      await gate.promise;
      return { kind: "json", value: body };
    });
    await using server = await startTestHttp({ routes: [slow] });
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    const answer = received(socket);
    socket.end(post('{"value":"late"}'));
    // The probe that distinguishes the client from a disconnected one.
    await once(socket, "data");
    await once(socket, "data");
    gate.resolve();
    assert.match(await answer, /HTTP\/1\.1 200 [^]*\{"value":"late"\}$/);
  });

  test("and then disconnects has its request aborted", async () => {
    const { promise: aborted, resolve: abort } = Promise.withResolvers<unknown>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const endless = echo(async ({ signal }) => {
      begin();
      await once(signal, "abort");
      abort(signal.reason);
      throw signal.reason;
    });
    await using server = await startTestHttp({ routes: [endless] });
    const socket = connect(server.port, "127.0.0.1");
    socket.write(post("{}"));
    await begun;
    socket.destroy();
    assert.equal(((await aborted) as { code: string }).code, "client_closed");
  });
});

describe("pipelined requests", () => {
  test("are served in order", async () => {
    await using server = await startTestHttp({ routes: [echo()] });
    const requests = Array.from({ length: 30 }, (_, index) => post(`{"value":"${index}"}`));
    const last = post('{"value":"end"}', `${authorization}connection: close\r\n`);
    const answer = await answerTo(server.port, requests.join("") + last);
    const values = [...answer.matchAll(/\{"value":"(\w+)"\}/g)].map(([, value]) => value);
    assert.deepEqual(values, [...Array.from({ length: 30 }, (_, index) => String(index)), "end"]);
  });

  test("in large numbers make the server close the connection", async () => {
    let served = 0;
    const counted = echo(async ({ signal }) => {
      served += 1;
      await once(signal, "abort");
      throw signal.reason;
    });
    await using server = await startTestHttp({ routes: [counted] });
    await answerTo(server.port, post("{}").repeat(400));
    assert.equal(served, 64);
  });
});
