/**
 * Finds the fields of log entries: their structured metadata, the labels that the query extracts, and what the parsers `json`
 * and `logfmt` read in their lines. https://grafana.com/docs/loki/latest/reference/loki-http-api/#detected-fields
 */
import { labelLimitError } from "@sounding/logql/pipeline/entry-labels";
import { compilePipeline, type Pipeline, type PipelineOutput } from "@sounding/logql/pipeline/pipeline";
import type { LogEntry, LogStream } from "@sounding/logql/query-result";
import type { JsonParser, LogfmtParser } from "@sounding/logql/syntax/ast";
import type { Budget } from "@sounding/promql/evaluate/budget";
import { entriesOf, type Labels } from "@sounding/promql/series/labels";
import { commonType, fieldType, type FieldType } from "./field-type.ts";
import { jsonPaths } from "./json-paths.ts";

type ParserName = "json" | "logfmt";

export interface DetectedField {
  readonly label: string;
  readonly values: ReadonlySet<string>;
  readonly type: FieldType;
  /** None for structured metadata. */
  readonly parsers: readonly ParserName[];
  /** The names of the members on the way to it. */
  readonly jsonPath: readonly string[] | undefined;
}

interface Field extends DetectedField {
  readonly values: Set<string>;
  type: FieldType;
  readonly parsers: ParserName[];
  jsonPath: readonly string[] | undefined;
}

const anywhere = { start: 0, end: 0 } as const;
const json: JsonParser = { kind: "json", extractions: [], at: anywhere };
const logfmt: LogfmtParser = { kind: "logfmt", extractions: [], strict: false, keepEmpty: false, at: anywhere };

/** A label that both the stream and the line have is extracted under its name with this suffix. */
const extractedSuffix = "_extracted";
/** The cost of looking at a field, in samples. */
const fieldCost = 16;

/** The fields by name; more than `limit` are left out. */
export async function detectFields(
  streams: readonly LogStream[],
  { budget, limit }: { readonly budget: Budget; readonly limit: number },
): Promise<ReadonlyMap<string, DetectedField>> {
  const fields = new Map<string, Field>();
  const parsers = {
    json: compilePipeline([json], { unwrap: null }),
    logfmt: compilePipeline([logfmt], { unwrap: null }),
  };
  const add = async (
    labels: Labels,
    { line, parser }: { parser?: ParserName | undefined; line?: string },
  ): Promise<void> => {
    let paths: ReturnType<typeof jsonPaths> | undefined;
    for (const [name, value] of entriesOf(labels)) {
      if (name.startsWith("__error") || name.startsWith("__preserve_error")) continue;
      const field = fields.get(name) ?? newField(name);
      if (!fields.has(name)) {
        if (fields.size >= limit) continue;
        fields.set(name, field);
      }
      addValue(field, value, parser);
      if (parser === "json" && line !== undefined && field.jsonPath === undefined) {
        if (paths === undefined) {
          if (budget.spend(line.length)) await budget.yield();
          paths = jsonPaths(line);
        }
        field.jsonPath = paths.get(name) ?? paths.get(withoutSuffix(name)) ?? [];
      }
      if (budget.spend(fieldCost)) await budget.yield();
    }
  };
  for (const { entries, labels: stream } of streams) {
    for (const entry of entries) {
      await add(entry.structuredMetadata, {});
      const { labels, parser } = await parseLine(entry, { stream, parsers, budget });
      await add(entry.parsed, { parser });
      await add(labels, { parser, line: entry.line });
    }
  }
  return fields;
}

function newField(label: string): Field {
  return { label, values: new Set(), type: "string", parsers: [], jsonPath: undefined };
}

function addValue(field: Field, value: string, parser: ParserName | undefined): void {
  const isFirst = field.values.size === 0;
  if (!field.values.has(value)) field.type = commonType(isFirst ? undefined : field.type, fieldType(value));
  field.values.add(value);
  if (parser !== undefined && !field.parsers.includes(parser)) field.parsers.push(parser);
}

function withoutSuffix(label: string): string {
  return label.endsWith(extractedSuffix) ? label.slice(0, -extractedSuffix.length) : label;
}

const nothing: { readonly labels: Labels; readonly parser: undefined } = {
  labels: { pairs: [], key: "" },
  parser: undefined,
};

/** What the line's format yields; a line that is neither JSON nor logfmt has no fields. */
async function parseLine(
  { line, unixNano }: LogEntry,
  {
    budget,
    parsers,
    stream,
  }: { readonly stream: Labels; readonly parsers: Readonly<Record<ParserName, Pipeline>>; readonly budget: Budget },
): Promise<{ readonly labels: Labels; readonly parser: ParserName | undefined }> {
  const input = { unixNano, line, stream, structuredMetadata: [] };
  for (const parser of ["json", "logfmt"] as const) {
    if (parser === "json" && !/^\s*\{/.test(line)) continue;
    const output = await parsers[parser].process(input, budget);
    if (output !== null && isParsed(output)) return { labels: output.parsed, parser };
  }
  return nothing;
}

function isParsed(output: PipelineOutput): boolean {
  return ["", labelLimitError].includes(output.get("__error__")) && output.parsed.pairs.length > 0;
}
