import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { renderClientTypes, type JsonSchema } from "../scripts/generate-client-types.ts";

/** The type generated for one member. */
function typeOf(schema: JsonSchema): string {
  const text = renderClientTypes({ Whole: { type: "object", properties: { member: schema } } });
  return /member\?: ([\s\S]*);\n}/.exec(text)![1]!;
}

describe("the client's types", () => {
  for (const [schema, type] of [
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ const: "model" }, '"model"'],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    [{ type: "object", patternProperties: { "^.*$": { type: "number" } } }, "Record<string, number>"],
    [{ type: "object", additionalProperties: true }, "Record<string, unknown>"],
    [{ type: "object", properties: { "a-b": {} }, required: ["a-b"] }, '{\n    "a-b": unknown;\n  }'],
    [{ type: "object", properties: { a: {} }, additionalProperties: true }, "{\n    a?: unknown;\n  }"],
    [{ anyOf: [{ const: "a" }, { type: "string", "x-omitted-from-client": true }] }, '"a"'],
    [{ $ref: "#/components/schemas/Model" }, "Model"],
    [{ allOf: [{ $ref: "#/A" }, { anyOf: [{ $ref: "#/B" }, { $ref: "#/C" }] }] }, "A & (B | C)"],
  ] as const satisfies readonly (readonly [JsonSchema, string])[]) {
    test(`write ${JSON.stringify(schema)} as ${type.replaceAll(/\s+/g, " ")}`, () =>
      assert.equal(typeOf(schema), type));
  }

  test("name a schema with its own type wherever it is used", () => {
    const model: JsonSchema = { type: "object", description: "A model.", properties: { id: { type: "string" } } };
    const text = renderClientTypes({ Model: model, List: { type: "array", items: model } });
    assert.match(text, /\/\*\* A model\. \*\/\nexport interface Model \{\n  id\?: string;\n\}/);
    assert.match(text, /export type List = Model\[\];/);
  });

  test("keep a comment from ending early", () => {
    const text = renderClientTypes({
      Noted: { type: "object", properties: { a: { description: "ends */ early" } } },
    });
    assert.match(text, /\/\*\* ends \*\\\/ early \*\//);
  });

  test("refuse what they cannot express, naming its location", () => {
    assert.throws(() => typeOf({ type: "array", items: { type: "date" } }), /Whole\.member\[\] has the type "date"/);
  });
});
