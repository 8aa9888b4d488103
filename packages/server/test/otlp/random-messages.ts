/** Random OTLP messages for property tests, in protobufjs' object form, and what the store should hold of their values. */
import * as fc from "fast-check";
import { nowNano } from "./ingest-fixture.ts";

export interface Value {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly bytesValue?: string;
  readonly arrayValue?: { readonly values: readonly Value[] };
  readonly kvlistValue?: { readonly values: readonly Attribute[] };
}
export interface Attribute {
  readonly key: string;
  readonly value?: Value;
}

const text = fc.string({ unit: "grapheme", maxLength: 40 });
const longText = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.string({ minLength: 1000, maxLength: 1500 }) },
);
const int64 = fc
  .oneof(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), fc.bigInt({ min: -200n, max: 200n }))
  .map(String);
const base64 = fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString("base64"));
/** Without values that JSON numbers cannot express; those have their own tests. */
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));

export const { value } = fc.letrec<{ value: Value; attribute: Attribute }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ stringValue: longText }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: double }),
    fc.record({ bytesValue: base64 }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie("value"), { maxLength: 4 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: fc.array(tie("attribute"), { maxLength: 4 }) }) }),
  ),
  attribute: fc.record({ key: text, value: tie("value") }),
}));

export const attributes = fc.array(
  fc.record(
    { key: fc.oneof(text, fc.constantFrom("service.name", "error.type", "gen_ai.request.model")), value },
    { requiredKeys: ["key"] },
  ),
  { maxLength: 8 },
);

export const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
export const uint64 = fc
  .oneof(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), fc.bigInt({ min: 0n, max: 300n }))
  .map(String);
export const number = double;
export const name = text;
const day = 86_400_000_000_000n;
/** Times that are neither too old nor too far ahead. */
export const time = fc.bigInt({ min: nowNano - 29n * day, max: nowNano + day / 2n }).map(String);
/** Base64, as protobufjs accepts bytes. */
export const id = (size: number) =>
  fc
    .uint8Array({ minLength: size, maxLength: size })
    .filter((bytes) => bytes.some((byte) => byte !== 0))
    .map((bytes) => Buffer.from(bytes).toString("base64"));

export const resource = fc.record({ attributes, droppedAttributesCount: uint32 });
export const scope = fc.record({ name: text, version: text, attributes, droppedAttributesCount: uint32 });

/** The kind's letter and the text that the store keeps. */
export function stored(value: Value | undefined): [kind: string, text: string] {
  if (value?.stringValue !== undefined) return ["s", value.stringValue];
  if (value?.boolValue !== undefined) return ["b", String(value.boolValue)];
  if (value?.intValue !== undefined) return ["i", value.intValue];
  if (value?.doubleValue !== undefined) return ["d", String(value.doubleValue)];
  if (value?.bytesValue !== undefined) return ["y", value.bytesValue];
  if (value?.arrayValue !== undefined) return ["a", JSON.stringify(value)];
  if (value?.kvlistValue !== undefined) return ["k", JSON.stringify(value)];
  return ["e", ""];
}

/** A list of attributes as the columns `attributes` and `attribute_types` store it. */
export function storedAttributes(list: readonly Attribute[]): { map: [string, string][]; types: string } {
  const kinds = list.map((each) => stored(each.value)[0]).join("");
  return { map: list.map((each) => [each.key, stored(each.value)[1]]), types: /^s*$/.test(kinds) ? "" : kinds };
}

export function hexOf(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex");
}
