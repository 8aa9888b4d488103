/** Requests that no ordinary client sends: each is served, or refused in the documented error format with a request ID. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { Type } from "typebox";
import { gzipSync } from "node:zlib";
import { operation } from "../../src/api/operation.ts";
import { schema } from "../../src/api/schema.ts";
import { route } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

const echo = route(
  operation({
    id: "echo",
    method: "POST",
    path: "/v1/echo/{name}",
    tag: "Test",
    summary: "Echo",
    permission: "inference",
    pathParameters: { name: "Any name." },
    body: schema(Type.Object({ value: Type.Optional(Type.Union([Type.String(), Type.Null()])) })),
    answer: { type: "application/json", description: "The body." },
  }),
  ({ body }) => ({ kind: "json", value: body }),
);

const credentials = `authorization: Bearer ${testSecret}\r\nconnection: close\r\n`;

/** Sends raw bytes. @returns the whole answer */
async function exchange(port: number, ...bytes: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  for (const each of bytes) socket.write(each);
  await once(socket, "close");
  return text;
}

function request(body: string | Uint8Array, headers = ""): (string | Uint8Array)[] {
  const length = Buffer.byteLength(body);
  return [
    `POST /v1/echo/x HTTP/1.1\r\nhost: x\r\n${credentials}content-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n`,
    body,
  ];
}

interface OddRequest {
  readonly name: string;
  readonly bytes: readonly (string | Uint8Array)[];
  readonly status: number;
  /** A part of the answer's body. */
  readonly says: RegExp;
}

const oddRequests: OddRequest[] = [
  {
    name: "a method that no operation has",
    bytes: [`QUERY /v1/echo/x HTTP/1.1\r\nhost: x\r\n${credentials}\r\n`],
    status: 405,
    says: /\r\nallow: POST\r\n[^]*"message":"The method QUERY is not allowed for this path; allowed: POST\."/,
  },
  {
    name: "a path that is no URL",
    bytes: [`POST /v1/echo/%zz HTTP/1.1\r\nhost: x\r\n${credentials}content-length: 0\r\n\r\n`],
    status: 400,
    says: /%zz is not a valid URL/,
  },
  {
    name: "bytes that are no request",
    bytes: ["\u0016\u0003\u0001 hello\r\n\r\n"],
    status: 400,
    says: /not valid HTTP\/1\.1/,
  },
  {
    name: "an expectation that nobody knows",
    bytes: request("{}", "expect: the-unexpected\r\n"),
    status: 200,
    says: /\{\}$/,
  },
  {
    name: "the name of a coding in capitals",
    bytes: request(gzipSync('{"value":"zip"}'), "content-encoding: GZIP\r\n"),
    status: 200,
    says: /\{"value":"zip"\}$/,
  },
  {
    name: "text that is not UTF-8",
    bytes: request(Buffer.from('{"value":"caf\u00e9"}', "latin1")),
    status: 400,
    says: /not valid UTF-8.*"code":"invalid_json"/,
  },
  {
    name: "arrays in arrays, 100 000 levels deep, where text is expected",
    bytes: request(`{"value":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    status: 400,
    says: /nested more than 500 levels deep.*"code":"invalid_json"/,
  },
  {
    name: "objects in objects, 100 000 levels deep, in a field that nobody knows",
    bytes: request(`{"other":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`),
    status: 400,
    says: /nested more than 500 levels deep/,
  },
];

describe("an odd request", () => {
  for (const { name, bytes, status, says } of oddRequests) {
    test(`with ${name}`, async () => {
      await using server = await startTestHttp({ routes: [echo] });
      const answer = await exchange(server.port, ...bytes);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(answer, /\r\nx-request-id: req_/i);
      assert.match(answer, says);
      assert.doesNotMatch(JSON.stringify(server.logged), /internal error/);
    });
  }
});
