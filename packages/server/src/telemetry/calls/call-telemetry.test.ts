import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { finishedChat, finishedSpeech, finishedTranscription } from "../../../test/support/finished-calls.ts";
import { testKey } from "../../../test/support/test-key.ts";
import { AppError } from "../../errors.ts";
import type { FinishedChat } from "../../finished-call.ts";
import { silentLogger } from "../../logger.ts";
import type { Batch } from "../../store/store.ts";
import { Scope } from "../../tenant.ts";
import { createRedaction } from "../redaction/redaction.ts";
import { createCallTelemetry, type CallTelemetryParts } from "./call-telemetry.ts";
import { isSampled } from "./sampled-content.ts";
import { traceContext } from "./trace-context.ts";

const settings = { retention_days: 30, record_content: false };

function call(organizationId = "org_a", content = "hello"): FinishedChat {
  const scope = Scope.fromKey(testKey({ organizationId }));
  return finishedChat({ scope, request: { model: "m", messages: [{ role: "user", content }] } });
}

function start(append: (batch: Batch) => Promise<void>, more: Partial<CallTelemetryParts> = {}) {
  const dropped: [number, string][] = [];
  const telemetry = createCallTelemetry({
    store: { append, isKnown: () => false },
    settingsOf: () => settings,
    identity: { version: "1", instanceId: "i" },
    currency: "USD",
    providerOf: (engine) => engine,
    logger: silentLogger,
    onDrop: (calls, reason) => dropped.push([calls, reason]),
    ...more,
  });
  return { telemetry, dropped };
}

describe("telemetry of calls", { timeout: 30_000 }, () => {
  test("is written separately for each organization", async () => {
    const rows = new Map<string, number>();
    const { telemetry, dropped } = start(async (batch) => {
      if (batch.table === "spans") rows.set(batch.organizationId, batch.rowCount);
    });
    for (const organization of ["org_a", "org_b", "org_a"]) telemetry.observe(call(organization));
    await telemetry.close();
    assert.deepEqual(Object.fromEntries(rows), { org_a: 2, org_b: 1 });
    assert.deepEqual(dropped, []);
  });

  test("is dropped and counted when the queue is full, and the queue is written when the store recovers", async () => {
    const gate = Promise.withResolvers<void>();
    let written = 0;
    const { telemetry, dropped } = start(async (batch) => {
      await gate.promise;
      if (batch.table === "spans") written += batch.rowCount;
    });
    for (let index = 0; index < 8200; index += 1) telemetry.observe(call());
    assert.deepEqual([dropped.length, dropped[0]], [8, [1, "queue_full"]]);
    gate.resolve();
    await telemetry.close();
    assert.equal(written, 8192);
  });

  test("is dropped and counted when the store refuses it, and shutdown waits for no retry", async () => {
    let appended = 0;
    const { telemetry, dropped } = start(async () => {
      appended += 1;
      throw new AppError("overloaded", "The store is down.");
    });
    for (let index = 0; index < 1000; index += 1) telemetry.observe(call());
    await telemetry.close();
    assert.equal(
      dropped.reduce((sum, [calls]) => sum + calls, 0),
      1000,
    );
    assert.ok(appended <= 5, "one group of rows was tried");
  });

  test("of audio records spoken content only if the settings enable it, and bounds it", async () => {
    for (const record_content of [true, false]) {
      const blocks: Buffer[] = [];
      const { telemetry } = start(async ({ block }) => void blocks.push(Buffer.from(block)), {
        settingsOf: () => ({ ...settings, record_content }),
      });
      for (const input of ["to be spoken", "x".repeat(33_554_432)]) {
        telemetry.observe(finishedSpeech({ characters: input.length, input }));
      }
      telemetry.observe(
        finishedTranscription({ audioSeconds: 6, realTimeFactor: 0.0005, confidence: 0.875, text: "was understood" }),
      );
      await telemetry.close();
      const written = Buffer.concat(blocks);
      for (const text of ["to be spoken", "was understood"]) assert.equal(written.includes(text), record_content, text);
      assert.ok(written.length < 100_000, "what is too much is left out");
      for (const text of ["speech m", "transcription m", "sounding.transcription.confidence", "0.875", "0.0005"]) {
        assert.ok(written.includes(text), text);
      }
    }
  });

  test("records content of a share of the conversations, and of each with all of its calls", async () => {
    const blocks: Buffer[] = [];
    const settingsOf = () => ({ ...settings, record_content: true, record_content_percent: 25 });
    const { telemetry } = start(async ({ block }) => void blocks.push(Buffer.from(block)), { settingsOf });
    for (let index = 0; index < 400; index += 1)
      for (const turn of ["first", "second"])
        telemetry.observe({ ...call("org_a", `${turn}-${index}-question`), conversation: `conversation ${index}` });
    await telemetry.close();
    const written = Buffer.concat(blocks).toString("latin1");
    const recorded = (turn: string): string[] =>
      [...written.matchAll(new RegExp(`${turn}-(\\d+)-question`, "g"))].map(([, index]) => index!);
    assert.deepEqual(new Set(recorded("first")), new Set(recorded("second")));
    const share = new Set(recorded("first")).size;
    assert.ok(share > 50 && share < 150, `${share} of 400`);
    for (const percent of [100, undefined]) assert.ok(isSampled({ ...call(), requestId: "r" }, percent));
  });

  test("records prompts, answers and errors without what is redacted", async () => {
    const blocks: Buffer[] = [];
    const redaction = createRedaction({}, () => {});
    const settingsOf = () => ({ ...settings, record_content: true, redact: ["email" as const] });
    const { telemetry } = start(async ({ block }) => void blocks.push(Buffer.from(block)), {
      settingsOf,
      redactorOf: redaction.redactorOf,
    });
    const error = new AppError("invalid_request", "no ann@example.com here");
    telemetry.observe({ ...call("org_a", `write\nann@example.com ${"long ".repeat(20_000)}`), error });
    telemetry.observe({ ...call(), tags: { "ann@example.com": "bob@example.com" } });
    await telemetry.close();
    const written = Buffer.concat(blocks).toString("latin1");
    assert.doesNotMatch(written, /example\.com/);
    assert.match(written, /write\\n\[redacted: email\] long/);
    assert.match(written, /no \[redacted: email\] here/);
  });

  test("records content only if the settings enable it at the end, and never if they cannot be read", async () => {
    for (const [settingsOf, expected] of [
      [() => ({ ...settings, record_content: true }), true],
      [async () => ({ ...settings, record_content: true }), true],
      [() => settings, false],
      [async () => settings, false],
    ] as const) {
      const blocks: Buffer[] = [];
      const { telemetry } = start(async ({ block }) => void blocks.push(Buffer.from(block)), { settingsOf });
      assert.equal(await telemetry.keepsContent(call().scope), expected);
      telemetry.observe(call("org_a", "the secret question"));
      await telemetry.close();
      assert.equal(Buffer.concat(blocks).includes("the secret question"), expected);
    }
    const settingsOf = () => ({ ...settings, record_content: true });
    const blocks: Buffer[] = [];
    const ofPrivate = start(async ({ block }) => void blocks.push(Buffer.from(block)), { settingsOf }).telemetry;
    ofPrivate.observe({ ...call("org_a", "the private question"), isPrivate: true });
    ofPrivate.observe(call("org_a", "the other question"));
    await ofPrivate.close();
    const all = Buffer.concat(blocks).toString("latin1");
    assert.match(all, /the other question/);
    assert.doesNotMatch(all, /the private question/);
    const fails = async (): Promise<never> => {
      throw new AppError("overloaded", "The database is away.");
    };
    const { telemetry, dropped } = start(async () => {}, { settingsOf: fails });
    assert.equal(await telemetry.keepsContent(call().scope), false);
    telemetry.observe(call());
    await telemetry.close();
    assert.deepEqual(dropped, [[1, "fault"]]);
  });
});

describe("a caller's trace", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const spanId = "b7ad6b7169203331";

  test("is joined", () => {
    assert.deepEqual(traceContext(`00-${traceId}-${spanId}-01`, "k=v"), {
      traceId,
      parentSpanId: spanId,
      traceState: "k=v",
      flags: 0x301,
    });
    assert.equal(traceContext(`42-${traceId}-${spanId}-00-more`, undefined).parentSpanId, spanId, "a later version");
    assert.equal(traceContext(`00-${traceId}-${spanId}-01`, "x".repeat(513)).traceState, "");
  });

  for (const traceparent of [
    undefined,
    "",
    traceId,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-0g`,
  ]) {
    test(`${JSON.stringify(traceparent)} is invalid: a new trace begins`, () => {
      const [first, second] = [traceContext(traceparent, "k=v"), traceContext(traceparent, "k=v")];
      assert.match(first.traceId, /^[0-9a-f]{32}$/);
      assert.notEqual(first.traceId, second.traceId);
      assert.deepEqual([first.parentSpanId, first.traceState, first.flags], ["", "", 1]);
    });
  }
});

test("a key that a caller sends as a model or a parameter is not stored", async () => {
  const stored: Buffer[] = [];
  const { telemetry } = start(async ({ block }) => void stored.push(Buffer.from(block)));
  const secret = `sk-${"aB3x".repeat(10)}`;
  const errors = [
    new AppError("model_not_found", `There is no model "${secret}".`, { param: "model" }),
    new AppError("unsupported_parameter", `"${secret}" is not supported.`, { param: secret }),
  ];
  for (const error of errors) {
    telemetry.observe(
      finishedChat({
        model: secret,
        request: { model: secret, messages: [] },
        answer: undefined,
        error,
        refused: true,
      }),
    );
  }
  await telemetry.close();
  const text = Buffer.concat(stored).toString("latin1");
  assert.match(text, /chat sk-aB3x\[redacted\]/);
  assert.match(text, /unsupported_parameter: sk-aB3x\[redacted\]/);
  assert.ok(!text.includes("aB3xaB3x"));
});
