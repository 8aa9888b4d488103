/** Recorded content is encrypted before the store gets it: applications' by the names of attributes and events, whatever its form. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { assert as check, constantFrom, property, string, tuple } from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { parseContentKey } from "../../src/encryption/content-cipher.ts";
import { createTelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { contentAttributes, isContentAttribute } from "../../src/store/content-attributes.ts";
import { longestHold } from "../../../../test/support/thread-holds.ts";
import { attribute, logRequest, metricRequest, spanRequest } from "./example-requests.ts";
import { ingestFixture, nowNano } from "./ingest-fixture.ts";
import { encode } from "./oracle.ts";
import { toOtlpJson } from "./sent-and-stored.ts";

const cipher = createTelemetryCipher([parseContentKey(randomBytes(32).toString("hex"))!]);
const time = { timeUnixNano: String(nowNano) };
const spanTime = { startTimeUnixNano: String(nowNano), endTimeUnixNano: String(nowNano) };
const id = (length: number): string => Buffer.alloc(length, 3).toString("base64");
const secret = "whisper";

/** Values of every kind, with the secret where a kind can have it. */
const values = {
  text: { stringValue: `${secret} é` },
  long: { stringValue: secret.repeat(500) },
  list: { arrayValue: { values: [{ stringValue: secret }] } },
  map: { kvlistValue: { values: [attribute("inner", secret)] } },
  bytes: { bytesValue: Buffer.from(secret).toString("base64") },
  number: { intValue: "77123456789" },
};
/** What bytes and numbers would be stored as. */
const traces = [secret, Buffer.from(secret).toString("base64"), "77123456789"];
const content = [
  ...contentAttributes.map((name) => ({ key: name, value: values.text })),
  { key: "gen_ai.prompt.0.content", value: values.long },
  { key: "llm.input_messages.0.message", value: values.map },
  { key: "input.value.list", value: values.list },
  { key: "output.value.bytes", value: values.bytes },
  { key: "output.value.number", value: values.number },
];
const attributes = [attribute("service.visible", "before"), ...content, attribute("input.values", "after")];

const requests = {
  traces: spanRequest({
    ...spanTime,
    attributes,
    events: [{ ...time, name: "gen_ai.content.prompt", attributes }],
    links: [{ traceId: id(16), spanId: id(8), attributes }],
  }),
  logs: logRequest({
    ...time,
    eventName: "gen_ai.user.message",
    body: values.map,
    attributes: [...attributes, attribute("exception.message", secret)],
  }),
} as const;
const messages = { traces: "ExportTraceServiceRequest", logs: "ExportLogsServiceRequest" } as const;

describe("encryption of telemetry", () => {
  for (const signal of ["traces", "logs"] as const)
    for (const encoding of ["protobuf", "json"] as const)
      test(`leaves nothing readable of content in ${signal} as ${encoding}`, async () => {
        const { close, send, sendJson, store } = ingestFixture({ seal: cipher.seal });
        const result =
          encoding === "protobuf"
            ? await send(signal, encode(messages[signal], requests[signal]))
            : await sendJson(signal, toOtlpJson(requests[signal]));
        await close();
        assert.deepEqual([result.accepted, result.rejected], [1, 0]);
        const written = Buffer.concat(store.batches.map(({ block }) => Buffer.from(block))).toString("latin1");
        for (const text of traces) assert.ok(!written.includes(text), text);
        for (const text of ["before", "after", "gen_ai.prompt.0.content"]) assert.ok(written.includes(text), text);
      });

  test("keeps values and their kinds, for the organization that sent them only", async () => {
    const { close, send, store } = ingestFixture({ seal: cipher.seal });
    await send("traces", encode(messages.traces, requests.traces));
    await close();
    const rows = [...store.rows("spans"), ...store.rows("span_details")];
    const found = rows.flatMap(({ attributes: map }) => map as [string, string][]);
    const opened = (name: string, organization = "org_test") =>
      cipher.open(found.find(([key]) => key === name)![1], organization);
    assert.equal(opened("gen_ai.input.messages"), `s${secret} é`);
    assert.equal(opened("gen_ai.prompt.0.content"), `s${secret.repeat(500)}`);
    assert.equal(opened("llm.input_messages.0.message"), `k${JSON.stringify(values.map)}`);
    assert.equal(opened("input.value.list"), `a${JSON.stringify(values.list)}`);
    assert.equal(opened("output.value.number"), "i77123456789");
    assert.equal(opened("service.visible"), "before");
    assert.match(opened("gen_ai.input.messages", "org_other"), /cannot be decrypted/);
  });

  test("leaves metrics, ordinary events, and a server without a key as they are", async () => {
    const ordinary = logRequest({ ...time, body: values.text, attributes: [attribute("exception.message", secret)] });
    for (const [seal, signal, request] of [
      [cipher.seal, "metrics", metricRequest({ ...time, attributes })],
      [cipher.seal, "logs", ordinary],
      [undefined, "traces", requests.traces],
    ] as const) {
      const { close, sendJson, store } = ingestFixture({ seal });
      await sendJson(signal, toOtlpJson(request));
      await close();
      const written = Buffer.concat(store.batches.map(({ block }) => Buffer.from(block))).toString();
      assert.deepEqual([written.includes(secret), written.includes("enc:v2:")], [true, false], signal);
    }
  });

  test("does not hold the event loop for a record with tens of thousands of such attributes", async () => {
    const many = (from: number) =>
      Array.from({ length: 10_000 }, (_, index) =>
        attribute(`gen_ai.prompt.${from + index}.content`, `${secret} ${index}`),
      );
    const events = [1, 2].map((number) => ({ ...time, name: "more", attributes: many(number * 10_000) }));
    const bytes = encode(messages.traces, spanRequest({ ...spanTime, attributes: many(0), events }));
    const { close, send, store } = ingestFixture({ seal: cipher.seal });
    await send("traces", bytes);
    store.batches.length = 0;
    const before = process.threadCpuUsage();
    const { holdMs, outcome } = await longestHold(() => send("traces", bytes));
    const { system, user } = process.threadCpuUsage(before);
    await close();
    assert.ok(!(outcome instanceof Error), "the record is accepted");
    const totalMs = (system + user) / 1000;
    assert.ok(holdMs < totalMs / 3, `held ${holdMs} ms of ${totalMs} ms`);
    const details = store.rows("span_details")[0]!;
    const values = [
      ...(store.rows("spans")[0]!["attributes"] as [string, string][]),
      ...(details["event_attributes"] as [string, string][][]).flat(),
    ];
    assert.equal(values.length, 30_000);
    for (const [index, [name, value]] of values.entries()) {
      assert.equal(name, `gen_ai.prompt.${index}.content`);
      assert.equal(cipher.open(value, "org_test"), `s${secret} ${index % 10_000}`);
    }
  });

  test("does not change the identity of a record that is sent again", async () => {
    const ids = [];
    for (let time = 0; time < 2; time += 1) {
      const { close, send, store } = ingestFixture({ seal: cipher.seal });
      await send("logs", encode(messages.logs, requests.logs));
      await close();
      ids.push(store.rows("logs")[0]!["record_id"]);
    }
    assert.equal(ids[0], ids[1]);
  });

  test("knows the names that are hidden from callers without content_read", () => {
    const hidden = new RegExp(
      `^(${contentAttributes.map((name) => name.replaceAll(".", "[.]")).join("|")})([.].*)?$`,
      "s",
    );
    const suffix = constantFrom("", ".", ".0", "s", "_", ".0.content", " ");
    const names = tuple(constantFrom(...contentAttributes), suffix, string({ maxLength: 2 })).map((parts) =>
      parts.join(""),
    );
    const checkName = (name: string): void => assert.equal(isContentAttribute(name), hidden.test(name), name);
    check(property(names, checkName), { numRuns: propertyRuns(500) });
    for (const name of contentAttributes) for (let end = 0; end < name.length; end += 1) checkName(name.slice(0, end));
  });
});
