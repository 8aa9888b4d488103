/**
 * Reads test scripts of TraceQL. A script loads traces and says what queries find in them:
 *
 *     trace one
 *       span a at 0s for 2s name="GET /" resource.service.name="shop"
 *         event "retry" at 1s event.attempt=2
 *       span b of a at 500ms for 1s status=error span.db.system="postgresql"
 *
 *     search { status = error }
 *       one: b
 *     range 0s to 30s step 10s: { } | count_over_time() by (status)
 *       {status="error"} 0 1 0 0
 *       {status="unset"} 1 0 0 0
 *     instant 0s to 30s: { } | rate()
 *       {__name__="rate"} 0.2
 *     fail { status = 1 }: must operate on the same type
 *
 * Times count from a time that is a multiple of every step. `_` is a point without a value; `|` separates sets of spans.
 */
import type { TraceqlTrace } from "../../src/storage.ts";
import { baseUnixNano, durationNano, loadTrace } from "./load-traces.ts";

export interface ExpectedSeries {
  readonly labels: string;
  /** NaN where there is none. */
  readonly values: readonly number[];
}

export type Case = { readonly line: number; readonly query: string } & (
  | { readonly kind: "search"; readonly traces: ReadonlyMap<string, string> }
  | { readonly kind: "fail"; readonly message: string }
  | {
      readonly kind: "range" | "instant";
      readonly startUnixNano: bigint;
      readonly endUnixNano: bigint;
      readonly stepNano: bigint;
      readonly series: readonly ExpectedSeries[];
    }
);

export interface Script {
  readonly traces: readonly TraceqlTrace[];
  readonly cases: readonly Case[];
}

interface Line {
  readonly number: number;
  readonly indent: number;
  readonly text: string;
}

export function parseScript(text: string): Script {
  const lines = text
    .split("\n")
    .map((line, index): Line => ({ number: index + 1, indent: line.search(/\S/), text: line.trim() }))
    .filter((line) => line.text !== "" && !line.text.startsWith("#"));
  const traces: TraceqlTrace[] = [];
  const cases: Case[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!;
    let end = index + 1;
    while (end < lines.length && lines[end]!.indent > line.indent) end++;
    const body = lines.slice(index + 1, end);
    if (line.text.startsWith("trace "))
      traces.push(
        loadTrace(
          line.text.slice(6),
          body.map((each) => each.text),
        ),
      );
    else cases.push(parseCase(line, body));
    index = end;
  }
  return { traces, cases };
}

const metricsCase = /^(range|instant) (\S+) to (\S+?)(?: step (\S+?))?: (.*)$/;

function parseCase({ number: line, text }: Line, body: readonly Line[]): Case {
  if (text.startsWith("search ")) {
    const traces = new Map(
      body.map(({ number, text: found }) => {
        const match = /^(\S+): (.*)$/.exec(found);
        if (match === null) throw new Error(`line ${number}: expected "TRACE: SPAN SPAN | SPAN", got "${found}"`);
        return [match[1]!, match[2]!] as const;
      }),
    );
    return { kind: "search", line, query: text.slice(7), traces };
  }
  const failing = /^fail (.*): ([^:]*)$/.exec(text);
  if (failing !== null) return { kind: "fail", line, query: failing[1]!, message: failing[2]! };
  const metrics = metricsCase.exec(text);
  if (metrics === null) throw new Error(`line ${line}: cannot read "${text}"`);
  const [, kind, start, end, step, query] = metrics;
  return {
    kind: kind as "range" | "instant",
    line,
    query: query!,
    startUnixNano: baseUnixNano + durationNano(start!),
    endUnixNano: baseUnixNano + durationNano(end!),
    stepNano: step === undefined ? 0n : durationNano(step),
    series: body.map(parseSeries),
  };
}

function parseSeries({ number, text }: Line): ExpectedSeries {
  const match = /^(\{.*\}) ([^{}]*)$/.exec(text);
  if (match === null) throw new Error(`line ${number}: expected "{LABELS} VALUES", got "${text}"`);
  const values = match[2]!.split(/\s+/).flatMap((word) => {
    const [value, count = "1"] = word.split("x");
    return Array.from({ length: Number(count) }, () => (value === "_" ? Number.NaN : Number(value)));
  });
  return { labels: match[1]!, values };
}
