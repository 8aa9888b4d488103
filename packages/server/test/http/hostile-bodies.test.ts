/** Bodies that try to exhaust memory or block the server: decompression bombs, huge bodies, bodies with many values. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Type } from "typebox";
import { operations } from "../../src/api/index.ts";
import { queryLogs } from "../../src/api/observability-logs.ts";
import { operation } from "../../src/api/operation.ts";
import { schema } from "../../src/api/schema.ts";
import { parseJson } from "../../src/http/parse-json.ts";
import { route, type RouteResponse } from "../../src/http/route.ts";
import { MemoryBudget } from "../../src/memory-budget.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

const mebibyte = 1_048_576;

function echo(serve: () => RouteResponse | Promise<RouteResponse>) {
  return route(
    operation({
      id: "echo",
      method: "POST",
      path: "/v1/echo",
      tag: "Test",
      summary: "Echo",
      permission: "inference",
      body: schema(Type.Object({}, { additionalProperties: true })),
      answer: { type: "application/json", description: "Nothing." },
    }),
    serve,
  );
}

const logs = route(queryLogs, () => ({ kind: "json", value: {} }));

function poster(url: string) {
  return async (path: string, body: string | Buffer, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: "POST",
      body: typeof body === "string" ? body : new Uint8Array(body),
      headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/json", ...headers },
    });
    return { status: response.status, text: await response.text() };
  };
}

describe("the memory of bodies", () => {
  test("is charged while they are decompressed and for the parsed values", async () => {
    const gate = Promise.withResolvers<void>();
    let served = 0;
    const slow = echo(async () => {
      served += 1;
      await gate.promise;
      return { kind: "json", value: {} };
    });
    await using server = await startTestHttp({
      routes: [slow],
      settings: { max_request_memory_bytes: 64 * mebibyte },
    });
    const post = poster(server.url);
    const small = gzipSync(`{"a":"${"x".repeat(8 * mebibyte)}"}`);
    assert.ok(small.length < 16_384);
    let refused = 0;
    const answers = Array.from({ length: 20 }, async () => {
      const answer = await post("/v1/echo", small, { "content-encoding": "gzip" });
      if (answer.status !== 429) return answer.status;
      assert.match(answer.text, /need more than 33554432 bytes of memory/);
      refused += 1;
      if (refused === 18) gate.resolve();
      return answer.status;
    });
    const statuses = await Promise.all(answers);
    // Two of them hold 2 × 8 MiB each; parsing a third would need 24 MiB more.
    assert.ok(served <= 2);
    assert.equal(statuses.filter((status) => status === 200).length, served);
    assert.equal((await post("/v1/echo", "{}")).status, 200);
  });

  test("is charged before the bytes of a declared length arrive", async () => {
    await using server = await startTestHttp({
      routes: [echo(() => ({ kind: "json", value: {} }))],
      settings: { max_request_memory_bytes: 2 * mebibyte },
    });
    const { status, text } = await poster(server.url)("/v1/echo", `{"a":"${"x".repeat(mebibyte)}"}`);
    assert.equal(status, 413);
    assert.match(text, /This request needs more than 1048576 bytes of memory/);
  });

  test("is the same for a body that declares a wrong length, or has several gzip members", async () => {
    await using server = await startTestHttp({ routes: [echo(() => ({ kind: "json", value: {} }))] });
    const post = poster(server.url);
    const lying = gzipSync(`{"a":"${"x".repeat(300_000)}"}`);
    lying.writeUInt32LE(5, lying.length - 4);
    const refused = await post("/v1/echo", lying, { "content-encoding": "gzip" });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /not valid gzip/);
    const members = Buffer.concat([gzipSync(`{"a":"${"x".repeat(300_000)}`), gzipSync('"}')]);
    assert.equal((await post("/v1/echo", members, { "content-encoding": "gzip" })).status, 200);
  });
});

describe("a JSON body", () => {
  test("with a million members is refused before it is parsed", async () => {
    await using server = await startTestHttp({ routes: [logs, echo(() => ({ kind: "json", value: {} }))] });
    const post = poster(server.url);
    const body = `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(",")}}`;
    const chat = await post("/v1/echo", body);
    assert.equal(chat.status, 413);
    assert.match(chat.text, /more than 50000 JSON values and member names.*server\.max_json_values/);
    const query = await post("/observability/logs", body);
    assert.equal(query.status, 413);
    assert.match(query.text, /more than 1048576 bytes/);
  });

  test("with a huge name, or huge text instead of a name, is refused with a short message", async () => {
    await using server = await startTestHttp({ routes: [logs] });
    const post = poster(server.url);
    const huge = "x".repeat(400_000);
    const long = await post("/observability/logs", JSON.stringify({ project_name: huge }));
    assert.equal(long.status, 400);
    assert.match(long.text, /project_name is \\"x+….*at most 256 characters/);
    const unknown = await post("/observability/logs", JSON.stringify({ [huge]: 1 }));
    assert.equal(unknown.status, 400);
    const twice = await post("/observability/logs", `{"${huge}":1,"${huge}":2}`);
    assert.equal(twice.status, 400);
    for (const { text } of [long, unknown, twice]) assert.ok(text.length < 1000);
  });

  test("of many megabytes yields to other requests while it is read", async () => {
    const charge = new MemoryBudget(1024 * mebibyte).open("a");
    const bytes = Buffer.from(
      `{"a":[${'"\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n",'.repeat(40_000)}${" ".repeat(12 * mebibyte)}1]}`,
    );
    let turns = 0;
    let ended = false;
    const count = (): void => {
      turns += 1;
      if (!ended) setImmediate(count);
    };
    setImmediate(count);
    await parseJson(bytes, { charge, maxValues: 50_000 });
    ended = true;
    assert.ok(turns >= 4, `only ${turns} turns of the event loop`);
  });
});

interface JsonSchema {
  readonly type?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly [keyword: string]: unknown;
}

function* stringsOf(json: unknown): Generator<JsonSchema> {
  if (typeof json !== "object" || json === null) return;
  if ((json as JsonSchema).type === "string") yield json as JsonSchema;
  for (const part of Object.values(json)) yield* stringsOf(part);
}

test("every text of a request that is matched against a pattern has a maximum length", () => {
  const schemas = operations.flatMap(({ body, form }) => [body?.json, form?.fields.json]);
  const patterned = schemas.flatMap((json) => [...stringsOf(json)]).filter(({ pattern }) => pattern !== undefined);
  assert.ok(patterned.length > 3);
  for (const each of patterned) assert.ok(each.maxLength !== undefined, JSON.stringify(each));
});
