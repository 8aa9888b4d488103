/** Renders the measurements of all rounds as two Markdown tables: medians over the rounds, and ratios. */
import { apis, eventCounts, type Api } from "./apis.ts";
import { percentile, type LoadResult } from "./load.ts";
import { eventsPerStream } from "./wire.ts";

export interface Measurement {
  readonly contender: string;
  readonly phase: string;
  /** CPU time of the contender per response; NaN for the upstream itself. */
  readonly cpuMicros: number;
  /** Of one request, head included. */
  readonly requestBytes: number;
  readonly result: LoadResult;
}

/** CPU time per call and per event, the resulting throughput of one core, and each relative to the bare relay. */
export function cpuTable(measurements: readonly Measurement[]): string {
  const names = contendersOf(measurements).filter((name) => !Number.isNaN(cpuOf(measurements, name, "batch")));
  const bare = cpuOf(measurements, bareRelay, "batch");
  const rows = names.map((name) => {
    const batch = cpuOf(measurements, name, "batch");
    const paced = cpuOf(measurements, name, "paced");
    const burst = cpuOf(measurements, name, "burst");
    return [
      name,
      batch.toFixed(1),
      String(Math.round(1e6 / batch)),
      ratio(batch / bare),
      (paced / eventsPerStream).toFixed(1),
      (burst / eventsPerStream).toFixed(1),
    ];
  });
  const heads = [
    "",
    "CPU µs a batch call",
    "calls per CPU-second",
    "× bare relay",
    "CPU µs a paced event",
    "CPU µs a back-to-back event",
  ];
  return table(heads, rows);
}

/** Calls and events of each API through Sounding, passed through and translated, relative to its chat completions. */
export function apiTable(measurements: readonly Measurement[]): string {
  const cost = (name: string, phase: string): number => cpuOf(measurements, name, phase);
  const rows = (
    [
      ["chat", ""],
      ["responses", ""],
      ["messages", ""],
      ["responses", "_translated"],
      ["messages", "_translated"],
    ] as const
  ).map(([api, way]) => {
    const suffix = api === "chat" ? "" : `_${api}${way}`;
    const call = cost("**Sounding**", `batch${suffix}`);
    // A translated stream has the events of chat completions at its upstream.
    const event = (name: string, kind: string): number => cost(name, `burst${kind}`) / eventCounts[api];
    return [
      `${api}${way === "" ? "" : ", translated"}`,
      call.toFixed(1),
      ratio(call / cost("**Sounding**", "batch")),
      ratio(call / cost(bareRelay, `batch${suffix}`)),
      event("**Sounding**", suffix).toFixed(1),
      ratio(event("**Sounding**", suffix) / (cost("**Sounding**", "burst") / eventCounts.chat)),
    ];
  });
  const heads = ["", "CPU µs a call", "× chat", "× bare relay", "CPU µs a back-to-back event", "× chat"];
  return table(heads, rows);
}

const bareRelay = "bare node:http + undici relay";

const longPrompts = { text_1mb: "1 MB of text", images_20mb: "20 MB of images", conversation_200: "200 messages" };

/** A table for each API. */
export function promptTables(measurements: readonly Measurement[]): string {
  return apis.map((api) => `${api}:\n\n${promptTable(measurements, api)}`).join("\n\n");
}

/** CPU time per megabyte of a request with a long prompt. */
function promptTable(measurements: readonly Measurement[], api: Api): string {
  const cost = (name: string, phase: string): number =>
    cpuOf(measurements, name, phase) / (measurements.find((each) => each.phase === phase)?.requestBytes ?? Number.NaN);
  const names = contendersOf(measurements).filter((name) => !Number.isNaN(cost(name, `text_1mb_${api}`)));
  const rows = names.map((name) => [
    name,
    ...Object.keys(longPrompts).flatMap((prompt) => {
      const phase = `${prompt}_${api}`;
      return [
        // Microseconds per byte are seconds per megabyte.
        (cost(name, phase) * 1000).toFixed(2),
        ratio(cost(name, phase) / cost(bareRelay, phase)),
      ];
    }),
  ]);
  const heads = Object.values(longPrompts).flatMap((title) => [`${title}: CPU ms a megabyte`, "× bare relay"]);
  return table(["", ...heads], rows);
}

/** Milliseconds at low load; the upstream's own row is the baseline. */
export function latencyTable(measurements: readonly Measurement[]): string {
  const rows = contendersOf(measurements).map((name) => {
    const of = (phase: string, pick: (result: LoadResult) => number) =>
      median(
        measurements.filter((each) => each.contender === name && each.phase === phase).map((each) => pick(each.result)),
      );
    const pair = (phase: string, pick: (result: LoadResult) => Float64Array): string[] =>
      [0.5, 0.99].map((share) => of(phase, (result) => percentile(pick(result), share)).toFixed(2));
    return [
      name,
      ...pair("batch_latency", (result) => result.answerMs),
      ...pair("stream_latency", (result) => result.firstByteMs),
      ...pair("stream_latency", (result) => result.transitMs),
    ];
  });
  const heads = [
    "ms at 8 callers with pauses",
    "batch p50",
    "p99",
    "first byte of a stream p50",
    "p99",
    "an event's way p50",
    "p99",
  ];
  return table(heads, rows);
}

function contendersOf(measurements: readonly Measurement[]): string[] {
  return [...new Set(measurements.map((each) => each.contender))];
}

function cpuOf(measurements: readonly Measurement[], contender: string, phase: string): number {
  return median(
    measurements.filter((each) => each.contender === contender && each.phase === phase).map((each) => each.cpuMicros),
  );
}

/** NaN if there are no values. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2;
}

function ratio(value: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(2);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
