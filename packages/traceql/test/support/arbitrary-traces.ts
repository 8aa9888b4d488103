/** Random traces, and the fields that queries over them can name. */
import * as fc from "fast-check";
import type { TraceqlTrace } from "../../src/storage.ts";
import { attributeField, intrinsicField, type TypedField } from "./arbitrary-traceql.ts";
import { toTrace, type ShortSpan } from "./traces.ts";

const texts = (...values: string[]): TypedField["values"] => values.map((value) => ({ type: "string", value }));

export const fieldsOfTraces: readonly TypedField[] = [
  { field: intrinsicField("name"), values: texts("GET", "SELECT", "call") },
  {
    field: intrinsicField("duration"),
    values: [1n, 5_000_000n, 1_000_000_000n].map((nanoseconds) => ({ type: "duration", nanoseconds })),
  },
  { field: intrinsicField("status"), values: [{ type: "status", value: "error" }] },
  { field: intrinsicField("kind"), values: [{ type: "kind", value: "server" }] },
  { field: attributeField("resource", "service.name"), values: texts("shop", "database") },
  { field: attributeField("span", "code"), values: [200n, 404n].map((value) => ({ type: "int", value })) },
  { field: attributeField(null, "user"), values: texts("ada", "bob") },
  { field: attributeField("span", "ratio"), values: [0.25, 3].map((value) => ({ type: "float", value })) },
];

const span = fc.record(
  {
    name: fc.constantFrom("GET", "SELECT", "call"),
    startMs: fc.integer({ min: 1_000_000, max: 1_060_000 }),
    ms: fc.integer({ min: 0, max: 3000 }),
    status: fc.constantFrom("error" as const, "ok" as const, "unset" as const),
    kind: fc.constantFrom("server" as const, "client" as const),
    resource: fc.record({ "service.name": fc.constantFrom("shop", "database") }),
    is: fc.record(
      { code: fc.constantFrom(200n, 404n), user: fc.constantFrom("ada", "bob"), ratio: fc.constantFrom(0.25, 3) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["name", "startMs", "ms"] },
);

/** A tree of spans; each one's parent is among those before it. */
const spans = fc.array(fc.tuple(span, fc.nat()), { minLength: 1, maxLength: 8 }).map((members) =>
  members.map(([each, parent], index): ShortSpan => {
    const id = `${index + 1}`.padStart(16, "0");
    return index === 0 ? { ...each, id } : { ...each, id, parent: `${(parent % index) + 1}`.padStart(16, "0") };
  }),
);

export const arbitraryTraces: fc.Arbitrary<readonly TraceqlTrace[]> = fc
  .array(spans, { maxLength: 6 })
  .map((traces) => traces.map((members, index) => toTrace(`${index + 1}`.padStart(32, "0"), members)));
