import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { readMembers } from "../json-members.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { parseJson, parseOutline } from "./parse-json.ts";

const limits = () => ({ charge: new MemoryBudget(2 ** 31).open("a"), maxValues: 1_000_000 });

/** Texts around the limit and around the step of decoding, with everything that must not be divided. */
const pieces = fc.constantFrom(
  "a",
  '"',
  "\\",
  "\n",
  "é",
  "€",
  "😀",
  "\ud83d",
  "\u0001",
  "/",
  "plain words ",
  "x".repeat(390),
  "data:",
  "\\\\\\",
);
const texts = fc
  .tuple(fc.array(pieces, { maxLength: 12 }), fc.constantFrom(1, 30, 500, 40_000))
  .map(([parts, times]) => parts.join("").repeat(Math.ceil(times / Math.max(1, parts.length))));
const names = fc.oneof(fc.constantFrom("content", "__proto__", "1", "n".repeat(500), 'q"', "role"), fc.string());
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    texts,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const objects = fc.dictionary(names, values, { minKeys: 1, maxKeys: 5, noNullPrototype: true });

/** JSON as different encoders write it, longer than what is parsed in one step. */
function encode(value: unknown, { escapes, indent }: { escapes: boolean; indent: number }): Buffer {
  const text = JSON.stringify(value, undefined, indent);
  const ascii = escapes
    ? text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : text;
  return Buffer.from(`${" ".repeat(20_000)}${ascii} \n`);
}

const encodings = fc.record({ escapes: fc.boolean(), indent: fc.constantFrom(0, 2) });

describe("a large JSON body", () => {
  test("has the value that JSON.parse gives it, once its texts are restored", async () => {
    await fc.assert(
      fc.asyncProperty(objects, encodings, async (value, encoding) => {
        const bytes = encode(value, encoding);
        assert.deepEqual(await parseJson(bytes, limits()), JSON.parse(bytes.toString()));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test("has the members that another scan finds in it", async () => {
    await fc.assert(
      fc.asyncProperty(objects, encodings, async (value, encoding) => {
        const bytes = encode(value, encoding);
        await parseOutline(bytes, limits());
        assert.deepEqual(readMembers(bytes), readMembers(Buffer.from(bytes)));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test("is parsed without the long texts deep inside, and with everything else", async () => {
    const long = 'A "quoted" word, é and 😀.\n'.repeat(2_000);
    const body = {
      model: "m".repeat(500),
      instructions: long,
      metadata: { note: long },
      messages: [{ role: "user", content: long, name: "short" }, { [long]: [long] }],
    };
    const bytes = Buffer.from(JSON.stringify(body));
    const { value, texts } = await parseOutline(bytes, limits());
    const cut = value as typeof body;
    assert.deepEqual([cut.model, cut.instructions, cut.metadata], [body.model, long, { note: long }]);
    const [message, named] = cut.messages as [Record<string, string>, Record<string, string[]>];
    assert.deepEqual([message["role"], message["name"], Object.keys(named)], ["user", "short", [long]]);
    assert.ok(message["content"]!.startsWith("A ") && message["content"]!.length < 100);
    assert.ok(named[long]![0]!.length < 100);
    await Promise.all([texts?.restore(), texts?.restore()]);
    assert.deepEqual(value, body);
  });

  test("keeps the last of two members with one name", async () => {
    const long = "x".repeat(1_000);
    const bytes = Buffer.from(
      `{"a":[{"b":"1${long}","b":"2${long}"},{"c":1}],"pad":"${"p".repeat(20_000)}","a":[{"b":"3${long}"}]}`,
    );
    assert.deepEqual(await parseJson(bytes, limits()), JSON.parse(bytes.toString()));
  });

  test("with damage in a long text is refused with its position", async () => {
    const long = "x".repeat(20_000);
    for (const damage of ["\n", "\\x", "\\u12", "\\", "\u0000"]) {
      const text = `{"messages":[{"content":"${long}${damage}${long}"}]}`;
      const message = /at position 200\d\d /;
      await assert.rejects(async () => parseOutline(Buffer.from(text), limits()), { code: "invalid_json", message });
    }
    const cutOff = Buffer.from(`{"messages":[{"content":"${long}"`);
    await assert.rejects(async () => parseOutline(cutOff, limits()), { code: "invalid_json" });
  });

  test("charges the memory of its texts when they are restored", async () => {
    const budget = new MemoryBudget(2 ** 31);
    const text = JSON.stringify({ messages: [{ content: "x".repeat(1_000_000) }] });
    const { texts } = await parseOutline(Buffer.from(text), { charge: budget.open("a"), maxValues: 100 });
    assert.ok(budget.usedBytes < 10_000, `${budget.usedBytes} bytes before`);
    await texts?.restore();
    assert.ok(budget.usedBytes >= 1_000_000, `${budget.usedBytes} bytes after`);
  });
});
