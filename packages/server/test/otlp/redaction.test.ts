/** Personal data and secrets in telemetry are replaced before the store gets it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, asyncProperty, constantFrom } from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { CooperativeYield } from "../../src/scheduling/cooperative-yield.ts";
import { sensitiveKinds } from "../../src/sensitive-data/kinds.ts";
import { createRedaction } from "../../src/telemetry/redaction/redaction.ts";
import { createTextRedactor } from "../../src/telemetry/redaction/text-redactor.ts";
import { testKey } from "../support/test-key.ts";
import { attribute, logRequest, metricRequest, spanRequest } from "./example-requests.ts";
import { ingestFixture, nowNano } from "./ingest-fixture.ts";
import { encode } from "./oracle.ts";
import { toOtlpJson } from "./sent-and-stored.ts";

const time = { timeUnixNano: String(nowNano) };
const span = { startTimeUnixNano: String(nowNano), endTimeUnixNano: String(nowNano) };
const id = (length: number): string => Buffer.alloc(length, 3).toString("base64");
const card = "4111 1111 1111 1111";
const texts = [
  "ann@example.com",
  card,
  "+49 30 1234567",
  "DE89370400440532013000",
  ["sk-", "ant-api03-0123456789abcdef"].join(""),
];
const everything = { all: { kinds: [...sensitiveKinds], patterns: { employee: "E-[0-9]{6}" } } };

function fixture(settings: Parameters<typeof createRedaction>[0] = everything) {
  const counts: Record<string, number> = {};
  const redaction = createRedaction(settings, (kind) => void (counts[kind] = (counts[kind] ?? 0) + 1));
  const key = testKey({ organizationName: "acme" });
  return { ...ingestFixture({ key, redactorOf: redaction.redactorOf }), redaction, counts };
}

/** A value in which the texts are at several depths. */
const nested = {
  kvlistValue: {
    values: [
      attribute("first", texts[0]!),
      { key: "list", value: { arrayValue: { values: texts.map((stringValue) => ({ stringValue })) } } },
      { key: texts[2]!, value: { kvlistValue: { values: [attribute("deep", `${texts[3]} and ${texts[4]}`)] } } },
    ],
  },
};

describe("redaction of telemetry", () => {
  const attributes = [attribute("user", texts[0]!), { key: "nested", value: nested }, attribute("plain", "kept")];
  const resource = { attributes: [attribute("service.name", "shop"), attribute("owner", texts[0]!)] };
  const requests = {
    traces: spanRequest(
      {
        ...span,
        name: `GET /users/${texts[0]}`,
        attributes: [...attributes, attribute("long", `${"x ".repeat(20_000)}${card}`)],
        events: [{ ...time, name: `to ${texts[2]}`, attributes }],
        links: [{ traceId: id(16), spanId: id(8), attributes }],
        status: { code: 2, message: `no account ${texts[3]}` },
      },
      resource,
    ),
    logs: logRequest({ ...time, body: nested, attributes }, resource),
    metrics: metricRequest({ ...time, attributes, exemplars: [{ ...time, filteredAttributes: attributes }] }, resource),
  };
  const messages = {
    traces: "ExportTraceServiceRequest",
    logs: "ExportLogsServiceRequest",
    metrics: "ExportMetricsServiceRequest",
  } as const;

  for (const signal of ["traces", "logs", "metrics"] as const)
    for (const encoding of ["protobuf", "json"] as const)
      test(`leaves nothing of it in ${signal} as ${encoding}`, async () => {
        const { close, counts, send, sendJson, store } = fixture();
        const bytes = encode(messages[signal], requests[signal]);
        const result =
          encoding === "protobuf" ? await send(signal, bytes) : await sendJson(signal, toOtlpJson(requests[signal]));
        await close();
        assert.deepEqual([result.accepted, result.rejected], [1, 0]);
        const written = Buffer.concat(store.batches.map(({ block }) => Buffer.from(block))).toString("latin1");
        for (const text of texts) assert.ok(!written.includes(text), text);
        for (const kind of sensitiveKinds) {
          assert.ok(written.includes(`[redacted: ${kind}]`), kind);
          assert.ok(counts[kind]! >= 2, kind);
        }
        assert.match(written, /kept/);
        assert.match(written, /shop/);
      });

  test("replaces own patterns, and text inside JSON without breaking it", async () => {
    const { counts, send, store } = fixture();
    const body = JSON.stringify({
      said: `call\n${card}\tor "é"4111111111111111`,
      by: "E-123456",
      n: [1, "a\\bob@c.de"],
    });
    await send("logs", encode(messages.logs, logRequest({ ...time, body: { stringValue: body } })));
    assert.deepEqual(JSON.parse(String(store.rows("logs")[0]!["body"])), {
      said: 'call\n[redacted: card_number]\tor "é"[redacted: card_number]',
      by: "[redacted: employee]",
      n: [1, "a\\b[redacted: email]"],
    });
    assert.deepEqual(counts, { card_number: 2, employee: 1, email: 1 });
  });

  test("applies to the organizations and projects that it names, and to what a project adds", async () => {
    const rule = { kinds: ["email" as const], patterns: {} };
    const bodyWith = async (settings: Parameters<typeof createRedaction>[0], project = "shop") => {
      const { send, store } = fixture(settings);
      const named = { attributes: [attribute("project.name", project)] };
      await send("logs", encode(messages.logs, logRequest({ ...time, body: { stringValue: texts[0] } }, named)));
      return store.rows("logs")[0]!["body"];
    };
    assert.equal(await bodyWith({}), texts[0]);
    assert.equal(await bodyWith({ one: { ...rule, organizations: ["ac*"] } }), "[redacted: email]");
    assert.equal(await bodyWith({ one: { ...rule, organizations: ["other"] } }), texts[0]);
    assert.equal(await bodyWith({ one: { ...rule, projects: ["shop"] } }), "[redacted: email]");
    assert.equal(await bodyWith({ one: { ...rule, projects: ["shop"] } }, "else"), texts[0]);

    const { redaction } = fixture({});
    const { scope } = ingestFixture();
    const project = { retention_days: 30, record_content: false };
    assert.equal(redaction.redactorOf(scope, project), undefined);
    assert.notEqual(redaction.redactorOf(scope, { ...project, redact: ["iban"] }), undefined);
    redaction.reload({ one: rule });
    assert.notEqual(redaction.redactorOf(scope, project), undefined);
  });

  test("keeps every other byte of a record", async () => {
    const { send, store } = fixture();
    const plain = fixture({});
    const bytes = encode(
      messages.traces,
      spanRequest({ ...span, attributes: [attribute("a", "b@c d"), attribute("e", "1")] }),
    );
    await send("traces", bytes);
    await plain.send("traces", bytes);
    assert.deepEqual(store.rows("spans"), plain.store.rows("spans"));
  });

  test("refuses a request that is no valid message", async () => {
    const { send, store } = fixture();
    const bytes = Buffer.from(encode(messages.logs, logRequest({ ...time, body: { stringValue: texts[0] } })));
    bytes[bytes.lastIndexOf(texts[0]!) - 1] = 0x7f;
    await assert.rejects(send("logs", bytes), { code: "invalid_request" });
    assert.deepEqual(store.batches, []);
  });
});

describe("a redactor", () => {
  const redactor = createTextRedactor({ kinds: new Set(sensitiveKinds), patterns: [] }, () => {});
  const redact = (text: string) => redactor.redact(text, new CooperativeYield());

  test("finds nothing in bytes that its filter does not let through", async () => {
    const piece = constantFrom(
      ...texts,
      ..."4111111111111111 sk- xox AKIA eyJ ghp_ @ %40 . - + ( ) DE89 +49 30 555-201-3344 555.201.3344 a 1 é \\n \\u0020".split(
        " ",
      ),
      " ",
      "4111",
      "12345678",
      "\n",
    );
    const property = asyncProperty(array(piece, { maxLength: 14 }), async (pieces) => {
      const text = pieces.join("");
      const bytes = Buffer.from(text);
      if (!redactor.mayMatch(bytes, 0, bytes.length)) assert.equal(await redact(text), undefined, text);
    });
    await check(property, { numRuns: propertyRuns(2000) });
  });

  test("finds what stands at the border of two windows of a long text", async () => {
    for (let shift = 0; shift < 40; shift += 3) {
      const text = `${"a ".repeat(600 + shift)}${card} ${"b ".repeat(5000)}${texts[0]}`;
      const redacted = await redact(text);
      assert.ok(
        redacted!.includes("[redacted: card_number]") && redacted!.endsWith("[redacted: email]"),
        String(shift),
      );
    }
  });

  test("replaces the rest of a text with too many matches", async () => {
    const redacted = (await redact(`${"a@b.cd ".repeat(1500)}the end`))!;
    assert.equal(redacted.match(/redacted/g)!.length, 1001);
    assert.ok(!redacted.includes("the end"));
  });

  test("takes time that is linear in a hostile text, and pauses", async () => {
    const length = 1_000_000;
    for (const piece of [
      "@",
      "a@",
      "1 ",
      "4111 ",
      "+1(",
      "eyJ-",
      "eyJ.",
      "sk-",
      "DE89",
      "\\n",
      "\\u0020",
      "x".repeat(64),
    ]) {
      let pauses = 0;
      const yielder = new CooperativeYield();
      const counted: CooperativeYield = Object.assign(Object.create(yielder), {
        isDue: (steps?: number) => yielder.isDue(steps),
        yield: async () => {
          pauses += 1;
          await yielder.yield();
        },
      });
      const before = process.threadCpuUsage();
      await redactor.redact(piece.repeat(length / piece.length), counted);
      const { user, system } = process.threadCpuUsage(before);
      const cpuMs = (user + system) / 1000;
      assert.ok(cpuMs < 3000, `${JSON.stringify(piece)}: ${cpuMs} ms`);
      assert.ok(pauses > 0, piece);
    }
  });
});
