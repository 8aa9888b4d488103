/** Random valid LogQL queries for entries, with every kind of stage, over given labels and lines. */
import * as fc from "fast-check";
import type { Extraction, LabelFilter, LabelMatcher, LineFilter, LogQuery, Stage } from "../../src/syntax/ast.ts";
import { nowhere } from "@sounding/promql/syntax/source-range";

/** What queries are about. */
export interface LogVocabulary {
  /** Labels of streams with some of their values. */
  readonly streamLabels: Readonly<Record<string, readonly string[]>>;
  /** Labels of structured metadata with some of their values. */
  readonly metadata: Readonly<Record<string, readonly string[]>>;
  /** What the lines look like. */
  readonly lines: readonly LineShape[];
}

export interface LineShape {
  readonly format: "json" | "logfmt" | "text";
  /** Texts that occur in some of the lines. */
  readonly words: readonly string[];
  /** For lines of plain text: expressions and patterns with named groups and captures. */
  readonly expressions?: readonly string[];
  readonly patterns?: readonly string[];
  /** Labels that parsing the line extracts, with what their values are. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

export type FieldKind = "text" | "number" | "duration" | "bytes" | "address";

const at = nowhere;

/** One of some values; the type of an empty list would be never. */
export function oneOf<Value>(values: readonly Value[]): fc.Arbitrary<Value> {
  return fc.constantFrom(...values);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\.+*?()[\]{}^$|]/g, String.raw`\$&`);
}

function matcher(name: string, values: readonly string[]): fc.Arbitrary<LabelMatcher> {
  const value = oneOf(values);
  return fc.oneof(
    { weight: 3, arbitrary: value.map((text) => ({ name, operator: "=" as const, value: text })) },
    value.map((text) => ({ name, operator: "!=" as const, value: text })),
    fc
      .tuple(value, value)
      .map(([left, right]) => ({ name, operator: "=~" as const, value: `${escaped(left)}|${escaped(right)}` })),
    value.map((text) => ({ name, operator: "!~" as const, value: `${escaped(text.slice(0, 2))}.*` })),
  );
}

export function ofRecord<Value, Result>(
  record: Readonly<Record<string, Value>>,
  make: (name: string, value: Value) => fc.Arbitrary<Result>,
): fc.Arbitrary<Result> {
  return oneOf(Object.entries(record)).chain(([name, value]) => make(name, value));
}

function selector({ streamLabels }: LogVocabulary): fc.Arbitrary<readonly LabelMatcher[]> {
  const selecting = ofRecord(streamLabels, (name, values) =>
    fc.oneof(
      oneOf(values).map((value) => ({ name, operator: "=" as const, value })),
      fc.constant({ name, operator: "=~" as const, value: ".+" }),
    ),
  );
  return fc
    .tuple(selecting, fc.array(ofRecord(streamLabels, matcher), { maxLength: 2 }))
    .map(([first, rest]) => [first, ...rest]);
}

function lineFilter({ words }: LineShape): fc.Arbitrary<LineFilter> {
  const text = oneOf(words);
  const make = (
    operator: LineFilter["operator"],
    values: readonly string[],
    kind: "text" | "ip" = "text",
  ): LineFilter => ({
    kind: "line-filter",
    operator,
    operands: values.map((value) => ({ kind, value })),
    at,
  });
  return fc.oneof(
    { weight: 3, arbitrary: fc.array(text, { minLength: 1, maxLength: 3 }).map((values) => make("|=", values)) },
    text.map((value) => make("!=", [value])),
    fc
      .array(
        text.map((word) => `(?i)${escaped(word)}`),
        { minLength: 1, maxLength: 2 },
      )
      .map((values) => make("|~", values)),
    fc.tuple(text, text).map(([first, second]) => make("!~", [`${escaped(first)}.*${escaped(second)}`])),
    text.map((word) => make("|>", [`<_>${word.replaceAll(/[<>]/g, "")}<_>`])),
    text.map((word) => make("!>", [`<_>${word.replaceAll(/[<>]/g, "")}`])),
    fc.constantFrom("|=" as const, "!=" as const).map((operator) => make(operator, ["10.0.0.0/8"], "ip")),
  );
}

export function parser(shape: LineShape): fc.Arbitrary<Stage> {
  const extractions = fc.uniqueArray(
    oneOf(Object.keys(shape.fields)).map((label): Extraction => ({ label, expression: label })),
    { minLength: 0, maxLength: 2, selector: ({ label }) => label },
  );
  switch (shape.format) {
    case "json":
      return extractions.map((list) => ({ kind: "json", extractions: list, at }));
    case "logfmt":
      return fc
        .record({ extractions, strict: fc.boolean(), keepEmpty: fc.boolean() })
        .map((parts) => ({ kind: "logfmt", ...parts, at }));
    case "text":
      return fc.oneof(
        oneOf(shape.expressions ?? ["(?P<first>\\w+)"]).map((expression): Stage => ({
          kind: "regexp",
          expression,
          at,
        })),
        oneOf(shape.patterns ?? ["<first> <_>"]).map((pattern): Stage => ({ kind: "pattern", pattern, at })),
      );
  }
}

const comparison = fc.constantFrom("==", "!=", ">", ">=", "<", "<=");

function fieldFilter(label: string, kind: FieldKind): fc.Arbitrary<LabelFilter> {
  switch (kind) {
    case "text":
      return matcher(label, ["", "a", "GET", "error"]).map((one) => ({ kind: "matcher", matcher: one }));
    case "number":
      return fc
        .record({
          operator: comparison,
          value: fc.oneof(fc.integer({ min: -5, max: 600 }), fc.double({ min: -10, max: 10, noNaN: true })),
        })
        .map((parts): LabelFilter => ({ kind: "number", label, ...parts }));
    case "duration":
      return fc
        .record({
          operator: comparison,
          nanoseconds: fc.oneof(fc.integer({ min: 0, max: 1e10 }), fc.constantFrom(1e6, 2.5e8, -6e10)),
        })
        .map((parts): LabelFilter => ({ kind: "duration", label, ...parts }));
    case "bytes":
      return fc
        .record({
          operator: comparison,
          bytes: fc.oneof(fc.integer({ min: 0, max: 1e8 }), fc.constantFrom(5000, 5120, 1.5e6)),
        })
        .map((parts): LabelFilter => ({ kind: "bytes", label, ...parts }));
    case "address":
      return fc
        .record({
          operator: fc.constantFrom("=", "!="),
          addresses: fc.constantFrom("10.0.0.1", "10.0.0.0/8", "10.0.0.1-10.0.0.9"),
        })
        .map((parts): LabelFilter => ({ kind: "ip", label, ...parts }));
  }
}

function labelFilter(vocabulary: LogVocabulary, shape: LineShape): fc.Arbitrary<LabelFilter> {
  const condition: fc.Arbitrary<LabelFilter> = fc.oneof(
    { weight: 3, arbitrary: ofRecord(shape.fields, fieldFilter) },
    ofRecord({ ...vocabulary.streamLabels, ...vocabulary.metadata }, matcher).map((one): LabelFilter => ({
      kind: "matcher",
      matcher: one,
    })),
  );
  const { filter } = fc.letrec<{ filter: LabelFilter }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      { weight: 4, arbitrary: condition },
      fc.record({
        kind: fc.constantFrom("and", "or"),
        left: tie("filter"),
        right: tie("filter"),
      }) as fc.Arbitrary<LabelFilter>,
    ),
  }));
  return filter;
}

function otherStage(vocabulary: LogVocabulary, shape: LineShape): fc.Arbitrary<Stage> {
  const fields = oneOf(Object.keys(shape.fields));
  const labels = oneOf([
    ...Object.keys(shape.fields),
    ...Object.keys(vocabulary.streamLabels),
    ...Object.keys(vocabulary.metadata),
  ]);
  const template = fields.map((name) => `{{.${name}}} is {{ .${name} | ToUpper }}`);
  const choice = fc
    .uniqueArray(labels, { minLength: 1, maxLength: 2 })
    .map((names) => names.map((name) => ({ kind: "name" as const, name })));
  return fc.oneof(
    {
      weight: 4,
      arbitrary: labelFilter(vocabulary, shape).map((filter): Stage => ({ kind: "label-filter", filter, at })),
    },
    { weight: 2, arbitrary: lineFilter(shape) },
    template.map((text): Stage => ({ kind: "line-format", template: text, at })),
    fc.tuple(fields, template).map(([from, text]): Stage => ({
      kind: "label-format",
      assignments: [
        { kind: "template", label: "copied", template: text },
        { kind: "rename", label: "renamed", from },
      ],
      at,
    })),
    fc
      .tuple(fc.constantFrom("drop" as const, "keep" as const), choice)
      .map(([kind, chosen]): Stage => ({ kind, labels: chosen, at })),
    labels.map((name): Stage => ({
      kind: "drop",
      labels: [{ kind: "matcher", matcher: { name, operator: "=~", value: ".*e.*" } }],
      at,
    })),
    fc.constant<Stage>({ kind: "decolorize", at }),
  );
}

/** Without what would read as one stage: `drop a` and `!= "b"` are `drop a != "b"`, a matcher. */
function separate(stages: readonly Stage[]): readonly Stage[] {
  const kept: Stage[] = [];
  for (const stage of stages) {
    const previous = kept.at(-1)?.kind;
    const isNegative = stage.kind === "line-filter" && (stage.operator === "!=" || stage.operator === "!~");
    if (!isNegative || (previous !== "drop" && previous !== "keep")) kept.push(stage);
  }
  return kept;
}

/** A query for entries. */
export function arbitraryLogQuery(vocabulary: LogVocabulary): fc.Arbitrary<LogQuery> {
  return oneOf(vocabulary.lines).chain((shape) => logQueryOf(vocabulary, shape));
}

export function logQueryOf(vocabulary: LogVocabulary, shape: LineShape): fc.Arbitrary<LogQuery> {
  const stages = fc
    .tuple(
      fc.array(lineFilter(shape), { maxLength: 2 }),
      fc.option(parser(shape)),
      fc.array(otherStage(vocabulary, shape), { maxLength: 3 }),
    )
    .map(([filters, parsing, rest]) => separate([...filters, ...(parsing === null ? [] : [parsing]), ...rest]));
  return fc.record({ matchers: selector(vocabulary), stages }).map((parts) => ({ kind: "log-query", ...parts, at }));
}
