/** Recorded content in a real store: encrypted there, readable for callers with `content_read` as long as its key is configured. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { parseContentKey } from "../../src/encryption/content-cipher.ts";
import { createTelemetryCipher, type TelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { permissions } from "../../src/permissions.ts";
import { callerOrganization, sql, type Statement } from "../../src/store/statement.ts";
import { createCallTelemetry } from "../../src/telemetry/calls/call-telemetry.ts";
import { createIngest } from "../../src/telemetry/otlp/ingest.ts";
import { createJsonConverter } from "../../src/telemetry/otlp/json-converter.ts";
import { signals } from "../../src/telemetry/otlp/signals.ts";
import { Scope } from "../../src/tenant.ts";
import { attribute, logRequest, spanRequest } from "../otlp/example-requests.ts";
import { toOtlpJson } from "../otlp/sent-and-stored.ts";
import { finishedChat } from "../support/finished-calls.ts";
import { noReportedCosts } from "../support/test-costs.ts";
import { testKey } from "../support/test-key.ts";
import { openTestStore, scopeOf, untilStored, type TestStore } from "./test-store.ts";

const newKey = () => parseContentKey(randomBytes(32).toString("hex"))!;
const [older, newer] = [newKey(), newKey()];
const secret = `whisper ${"of a long prompt ".repeat(200)}`;
const refusal = "messages[0].content is whisper";

describe("content in the store", () => {
  let opened: TestStore;
  /** What the server that writes and reads has; a test stands for servers that follow each other. */
  let keys: TelemetryCipher = createTelemetryCipher([older]);
  const cipher: TelemetryCipher = {
    get seal() {
      return keys.seal;
    },
    open: (stored, organizationId) => keys.open(stored, organizationId),
  };
  const settingsOf = () => ({ retention_days: 30, record_content: true });
  const converter = createJsonConverter(silentLogger);

  async function send(organizationId: string, signal: "traces" | "logs", request: object): Promise<void> {
    const { store } = opened;
    const ingest = createIngest({ store, settingsOf, converter, costs: noReportedCosts, seal: cipher.seal });
    const bytes = Buffer.from(JSON.stringify(toOtlpJson(request)));
    const { accepted } = await ingest({
      scope: scopeOf(organizationId),
      signal: signals[signal],
      encoding: "json",
      bytes,
    });
    assert.equal(accepted, 1);
  }

  async function call(changes: Parameters<typeof finishedChat>[0]): Promise<void> {
    const telemetry = createCallTelemetry({
      store: opened.store,
      settingsOf,
      cipher,
      identity: { version: "1", instanceId: "i" },
      currency: "USD",
      providerOf: (engine) => engine,
      logger: silentLogger,
      onDrop: () => assert.fail("a call was dropped"),
    });
    const request = { model: "m", messages: [{ role: "user" as const, content: secret }] };
    telemetry.observe(finishedChat({ scope: scopeOf("org_calls"), request, ...changes }));
    await telemetry.close();
  }

  beforeTests(async (stack) => {
    stack.defer(() => converter.close());
    opened = stack.use(await openTestStore({ cipher }));
    await send(
      "org_a",
      "traces",
      spanRequest({ attributes: [attribute("input.value", "whisper"), attribute("gen_ai.prompt", secret)] }),
    );
    await send("org_a", "logs", logRequest({ eventName: "gen_ai.choice", body: { stringValue: secret } }));
    keys = createTelemetryCipher([newer, older]);
    await call({});
    await call({ error: new AppError("invalid_request", refusal) });
    await untilStored(opened.store);
  });

  const read = async (statement: Statement, scope = scopeOf("org_a")): Promise<string> =>
    JSON.stringify(await opened.store.open(scope).query(statement));
  const own = sql`organization = ${callerOrganization}`;
  const values = sql`SELECT attributes['input.value'] AS short FROM spans WHERE ${own}`;
  const large = sql`SELECT attributes['gen_ai.prompt'] AS long FROM span_details WHERE ${own}`;
  const bodies = sql`SELECT body FROM logs WHERE ${own}`;
  const calls = sql`SELECT mapValues(attributes) AS texts FROM span_details WHERE ${own}`;
  const failures = sql`SELECT status_message, toString(error_type) AS type FROM spans WHERE ${own} AND status_message != ''`;
  const failureLogs = sql`SELECT body, attributes['exception.message'] AS message FROM logs WHERE ${own}`;
  const asCaller = scopeOf("org_calls");

  test("is nothing that the store can read", async () => {
    const texts = sql`arrayStringConcat(mapValues(attributes))`;
    for (const scope of [scopeOf("org_a"), asCaller])
      for (const [table, text] of [
        [sql`spans`, sql`concat(${texts}, status_message)`],
        [sql`span_details`, texts],
        [sql`logs`, sql`concat(${texts}, body)`],
      ] as const) {
        const found = sql`SELECT countIf(position(${text}, 'whisper') > 0) AS readable, countIf(position(${text}, 'enc:v2:') > 0) AS encrypted
          FROM ${table} WHERE ${own}`;
        const [row] = await opened.store.open(scope).query<{ readable: string; encrypted: string }>(found);
        assert.equal(row!.readable, "0");
        assert.ok(Number(row!.encrypted) > 0);
      }
  });

  test("is readable with keys that were replaced, as rows and as columns", async () => {
    assert.equal(await read(values), '[{"short":"swhisper"}]');
    assert.ok((await read(large)).includes(secret));
    const [block] = await opened.store.open(scopeOf("org_a")).columns(bodies);
    assert.deepEqual(block!.columns.get("body"), [`s${secret}`]);
    assert.ok((await read(calls, asCaller)).includes(secret));
    assert.equal(await read(failures, asCaller), `[{"status_message":"${refusal}","type":"invalid_request"}]`);
    assert.match(await read(failureLogs, asCaller), /"s[^"]* failed: messages\[0\].content is whisper".*"smessages/);
  });

  test("is hidden from callers without content_read", async () => {
    const may = new Set(permissions.filter((permission) => permission !== "content_read"));
    const viewer = (organizationId: string) => Scope.fromKey(testKey({ organizationId, permissions: may }));
    for (const statement of [values, large, bodies, calls, failures, failureLogs])
      for (const organization of ["org_a", "org_calls"]) {
        const seen = await read(statement, viewer(organization));
        assert.ok(!/whisper|enc:v2/.test(seen), seen);
      }
  });

  test("is hidden from them in messages of refused attempts, too, also without encryption", async () => {
    const all = keys;
    const scope = scopeOf("org_attempts");
    const error = new AppError("invalid_request", refusal);
    const attempt = { model: "m", modelId: "m", startUnixMs: Date.now(), durationMs: 1, outcome: error.code, error };
    keys = createTelemetryCipher([]);
    await call({ scope, error, attempts: ["first", "second"].map((engine) => ({ ...attempt, engine })) });
    keys = all;
    await untilStored(opened.store);
    const messages = sql`SELECT name, status_message FROM spans WHERE ${own} ORDER BY name`;
    assert.equal((await read(messages, scope)).split("whisper").length, 4);
    const may = new Set(permissions.filter((permission) => permission !== "content_read"));
    const viewer = Scope.fromKey(testKey({ organizationId: "org_attempts", permissions: may }));
    assert.deepEqual(
      JSON.parse(await read(messages, viewer)),
      ["attempt first", "attempt second", "chat m"].map((name) => ({ name, status_message: "invalid_request" })),
    );
  });

  test("says so where its key is missing, and the rest of the answer stays", async () => {
    const all = keys;
    const names = sql`SELECT name, attributes['input.value'] AS value FROM spans WHERE ${own}`;
    try {
      for (keys of [createTelemetryCipher([newer]), createTelemetryCipher([])])
        assert.equal(
          await read(names),
          `[{"name":"chat","value":"s[encrypted with the key ${older.id}, which the server does not have]"}]`,
        );
    } finally {
      keys = all;
    }
  });

  test("is not readable for an organization that got hold of it", async () => {
    const all = keys;
    keys = { ...all, open: (stored) => stored };
    const [row] = await opened.store.open(scopeOf("org_a")).query<{ short: string }>(values);
    keys = all;
    assert.match(row!.short, /^enc:v2:/);
    await send("org_thief", "traces", spanRequest({ attributes: [attribute("plain", row!.short)] }));
    await untilStored(opened.store);
    const stolen = await read(sql`SELECT attributes['plain'] AS plain FROM spans WHERE ${own}`, scopeOf("org_thief"));
    assert.match(stolen, /cannot be decrypted/);
    assert.ok(!stolen.includes("whisper"));
  });
});
