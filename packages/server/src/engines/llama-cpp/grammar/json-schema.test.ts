import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { Check } from "typebox/schema";
import { AppError } from "../../../errors.ts";
import { flattenGrammar, restoreGrammar } from "./flat-grammar.ts";
import type { Grammar } from "./grammar.ts";
import { schemaGrammar } from "./json-schema.ts";
import { createMatcher, type Matcher, type MatcherState } from "./matcher.ts";
import { propertyRuns } from "../../../../../../test/support/property-runs.ts";

const path = "response_format.json_schema.schema";

/** Of the grammar as received from the thread that builds it. */
function matcherOf(grammar: Grammar): Matcher {
  return createMatcher(restoreGrammar(structuredClone(flattenGrammar(grammar, 200_000))));
}

/** Whether the grammar admits exactly this text. */
function admits(grammar: Grammar, text: string): boolean {
  const matcher = matcherOf(grammar);
  let state: MatcherState | undefined = matcher.start;
  for (const byte of Buffer.from(text)) {
    matcher.renew();
    state = state && matcher.advance(state, Uint8Array.of(byte));
  }
  return state?.complete === true;
}

/** A text that the grammar admits, built from random numbers; undefined if none was found in time. */
function randomText(grammar: Grammar, numbers: readonly number[]): string | undefined {
  const matcher = matcherOf(grammar);
  let state = matcher.start;
  const bytes: number[] = [];
  for (let step = 0; step < 4000; step++) {
    const number = numbers[step % numbers.length]! + step;
    if (state.complete && (state.places.length === 0 || number % 3 === 0)) return Buffer.from(bytes).toString();
    const allowed = [...Array(256).keys()].filter((byte) => state.places.some(({ head }) => head.allowed[byte] === 1));
    assert.ok(allowed.length > 0, "the grammar leads nowhere");
    const closing = allowed.filter((byte) => '"}]'.includes(String.fromCharCode(byte)));
    const choices = closing.length > 0 && (number % 2 === 0 || step > 500) ? closing : allowed;
    const byte = choices[number % choices.length]!;
    bytes.push(byte);
    matcher.renew();
    state = matcher.advance(state, Uint8Array.of(byte))!;
  }
  return undefined;
}

const name = fc.constantFrom("a", "b", "né", 'quo"te', "with space");
const bound = fc.integer({ min: -300, max: 300 });
const lengths = fc.tuple(fc.nat(4), fc.nat(6));

const schema = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie("scalar"),
    tie("object"),
    tie("array"),
    tie("union"),
    tie("map"),
  ),
  scalar: fc.oneof(
    fc.constantFrom(
      { type: "string" },
      { type: "integer" },
      { type: "number" },
      { type: "boolean" },
      { type: "null" },
      {},
    ),
    fc.constant({ type: ["string", "null", "integer"] }),
    lengths.map(([least, more]) => ({ type: "string", minLength: least, maxLength: least + more })),
    fc.tuple(bound, fc.nat(500)).map(([least, more]) => ({ type: "integer", minimum: least, maximum: least + more })),
    fc.tuple(bound, fc.nat(50)).map(([least, more]) => ({ type: "number", minimum: least, maximum: least + more })),
    fc
      .tuple(bound, fc.nat(50))
      .map(([least, more]) => ({ type: "integer", exclusiveMinimum: least - 0.5, exclusiveMaximum: least + more + 2 })),
    fc.constantFrom({ type: "number", minimum: 0 }, { type: "integer", maximum: -7 }, { type: "number", maximum: 3 }),
    fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
    fc.jsonValue({ maxDepth: 1 }).map((value) => ({ const: value })),
    fc
      .constantFrom("^[a-z]+$", "^\\d{2,4}$", "^(?:ab|c)*$", "x", '^[^"\\\\]+$', "^\\w+@\\w+\\.\\w{2,3}$", "a.c", "^$")
      .map((pattern) => ({ type: "string", pattern })),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie("any"), fc.boolean()), { selector: ([key]) => key, maxLength: 4 }),
      fc.boolean(),
    )
    .map(([members, closed]) => ({
      type: "object",
      properties: Object.fromEntries(members.map(([key, value]) => [key, value])),
      required: members.filter(([, , required]) => required).map(([key]) => key),
      ...(closed ? { additionalProperties: false } : {}),
    })),
  array: fc
    .tuple(tie("any"), lengths)
    .map(([items, [least, more]]) => ({ type: "array", items, minItems: least, maxItems: least + more })),
  map: tie("any").map((value) => ({ type: "object", additionalProperties: value })),
  union: fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
})).any as fc.Arbitrary<Record<string, unknown>>;

describe("a grammar built from a JSON Schema", () => {
  test("admits only texts that validate against the schema", () => {
    const runs = propertyRuns(400);
    let found = 0;
    fc.assert(
      fc.property(schema, fc.array(fc.nat(1000), { minLength: 20, maxLength: 60 }), (each, numbers) => {
        const text = randomText(schemaGrammar(each, path, true), numbers);
        if (text === undefined) return;
        found++;
        const value: unknown = JSON.parse(text);
        assert.ok(Check(each, value), `${text} is not valid for ${JSON.stringify(each)}`);
      }),
      { numRuns: runs },
    );
    assert.ok(found > runs * 0.75, `only ${found} texts were found`);
  });

  test("admits the values that the schema describes", () => {
    const person = {
      $defs: { tag: { enum: ["a", "b"] } },
      type: "object",
      properties: {
        name: { type: "string", minLength: 1 },
        age: { type: "integer", minimum: 0, maximum: 130 },
        nick: { type: ["string", "null"] },
        tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1 },
      },
      required: ["name", "tags"],
      additionalProperties: false,
    };
    const grammar = schemaGrammar(person, path, true);
    const good = [
      '{"name":"Zoë","tags":["a"]}',
      '{\n  "name": "x",\n  "age": 130,\n  "nick": null,\n  "tags": [\n    "b",\n    "a"\n  ]\n}',
    ];
    const bad = [
      '{"tags":["a"]}',
      '{"name":"","tags":["a"]}',
      '{"name":"x","age":131,"tags":["a"]}',
      '{"name":"x","tags":[]}',
      '{"name":"x","tags":["c"]}',
      '{"name":"x","tags":["a"]',
      '{"name":"x","tags":["a"]} ',
    ];
    assert.deepEqual(
      good.map((text) => admits(grammar, text)),
      good.map(() => true),
    );
    assert.deepEqual(
      bad.map((text) => admits(grammar, text)),
      bad.map(() => false),
    );
  });

  test("follows references to anchors", () => {
    for (const anchor of [{ $anchor: "tag" }, { $id: "#tag" }]) {
      const grammar = schemaGrammar(
        {
          type: "object",
          properties: { a: { $ref: "#tag" } },
          required: ["a"],
          additionalProperties: false,
          $defs: { x: { ...anchor, type: "integer" }, y: { default: { $anchor: "tag" }, type: "string" } },
        },
        path,
        true,
      );
      assert.ok(admits(grammar, '{"a":5}'));
      assert.ok(!admits(grammar, '{"a":{"a":5}}'));
    }
  });

  test("refuses references in a schema with its own identifier, by its name", () => {
    const own = { $id: "https://example.org/own", properties: { b: { $ref: "#/$defs/c" } } };
    const wrong: [schema: object, param: string][] = [
      [{ type: "object", properties: { a: own }, $defs: { c: true } }, `${path}.properties.a.$id`],
      [{ $ref: "#/$defs/own/properties/b", $defs: { own, c: true } }, "the schema.$defs.own.$id"],
    ];
    for (const [schema, param] of wrong)
      assert.throws(() => schemaGrammar(schema as never, path, false), { code: "invalid_request", param });
    schemaGrammar({ properties: { a: { $id: "https://example.org/own", type: "string" } } }, path, true);
  });

  test("follows references, including recursive ones", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: { value: { type: "integer" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
          required: ["value"],
        },
      },
    };
    const grammar = schemaGrammar(tree, path, true);
    assert.ok(admits(grammar, '{"value":1,"children":[{"value":2,"children":[{"value":3}]}]}'));
    assert.ok(!admits(grammar, '{"value":1,"children":[{"valve":2}]}'));
    assert.ok(admits(schemaGrammar({ anyOf: [{ $ref: "#" }, { type: "null" }] }, path, true), "null"));
  });

  test("counts long strings without unrolling them", () => {
    const grammar = schemaGrammar({ type: "string", minLength: 50_000, maxLength: 100_000 }, path, true);
    assert.ok(admits(grammar, JSON.stringify("é".repeat(60_000))));
    assert.ok(!admits(grammar, JSON.stringify("é".repeat(100_001))));
  });

  test("knows the formats that it can guarantee", () => {
    const formatted = (format: string, text: string): boolean =>
      admits(schemaGrammar({ type: "string", format }, path, true), JSON.stringify(text));
    assert.ok(formatted("date", "2026-11-21"));
    assert.ok(!formatted("date", "2026-02-30"));
    assert.ok(formatted("date-time", "2026-11-21T07:08:09.5Z"));
    assert.ok(formatted("uuid", "0b6f2d0c-1f2e-4a3b-8c4d-5e6f70819203"));
    assert.ok(formatted("ipv4", "192.168.0.255"));
    assert.ok(!formatted("ipv4", "192.168.0.256"));
    assert.ok(formatted("email", "someone@example.org"));
  });

  const refused: [schema: Record<string, unknown>, param: string][] = [
    [{ type: "string", format: "hostname" }, "format"],
    [{ type: "string", pattern: "(?=a)b" }, "pattern"],
    [{ type: "string", pattern: "(a)\\1" }, "pattern"],
    [{ type: "string", pattern: "a", minLength: 3 }, "pattern"],
    [{ type: "number", multipleOf: 3 }, "multipleOf"],
    [{ type: "number", minimum: 0.5 }, "minimum"],
    [{ type: "number", exclusiveMinimum: 0 }, "exclusiveMinimum"],
    [{ type: "array", items: {}, uniqueItems: true }, "uniqueItems"],
    [{ type: "array", contains: {} }, "contains"],
    [{ type: "object", patternProperties: {} }, "patternProperties"],
    [{ type: "object", minProperties: 1 }, "minProperties"],
    [{ not: {} }, "not"],
    [{ if: {} }, "if"],
    [{ allOf: [{ type: "object" }, { type: "object" }] }, "allOf"],
    [{ oneOf: [{ type: "number" }, { type: "integer" }] }, "oneOf"],
    [{ anyOf: [{ type: "number" }], minimum: 3 }, "minimum"],
    [
      { type: "object", properties: { inner: { type: "string", contentEncoding: "base64" } } },
      "properties.inner.contentEncoding",
    ],
  ];
  for (const [each, param] of refused) {
    test(`refuses ${JSON.stringify(each)} by the name ${param}, and leaves it to the model without strict`, () => {
      assert.throws(
        () => schemaGrammar(each, path, true),
        (error) =>
          error instanceof AppError && error.code === "unsupported_parameter" && error.param === `${path}.${param}`,
      );
      assert.ok(schemaGrammar(each, path, false));
    });
  }

  const wrong: Record<string, unknown>[] = [
    { type: "text" },
    { type: "object", properties: [] },
    { type: "object", required: ["a"], additionalProperties: false },
    { $ref: "#/$defs/none" },
    { $ref: "#/$defs/100%" },
    { $ref: "#/__proto__" },
    { $ref: "#none" },
    { $ref: "#%" },
    { $ref: "https://example.org/schema" },
    { type: "integer", minimum: 3, maximum: 2 },
    { type: "string", minLength: 3, maxLength: 2 },
    { type: "string", minLength: "3" },
    { enum: "a" },
    { anyOf: [] },
    { oneOf: [null, { type: "string" }] },
    { oneOf: [{ type: "string" }, [], 3] },
    { enum: ["a"], type: "integer" },
  ];
  for (const each of wrong) {
    test(`reports that ${JSON.stringify(each)} is invalid`, () => {
      assert.throws(
        () => schemaGrammar(each, path, true),
        (error) => error instanceof AppError && error.code === "invalid_request",
      );
    });
  }

  test("accepts oneOf if a required member distinguishes the branches", () => {
    const branch = (kind: string) => ({
      type: "object",
      properties: { kind: { const: kind }, size: { type: "integer" } },
      required: ["kind"],
    });
    const grammar = schemaGrammar({ oneOf: [branch("circle"), branch("square"), { type: "null" }] }, path, true);
    assert.ok(admits(grammar, '{"kind":"square","size":3}'));
    assert.ok(!admits(grammar, '{"kind":"oval"}'));
  });
});

test("an enum with more values than a model can follow is refused", () => {
  const schema = { enum: Array.from({ length: 1001 }, (_, index) => `value-${index}`) };
  assert.throws(() => schemaGrammar(schema, path, true), /enum.*has 1001 values; at most 1000 are allowed/);
});
