/** TraceQL: over Tempo's HTTP API, and directly to the parser, the printer and the engine. */
import * as fc from "fast-check";
import { toAppError } from "../../../packages/server/src/errors.ts";
import { searchTraces } from "@sounding/traceql/engine";
import { queryTraceqlInstant, queryTraceqlRange } from "@sounding/traceql/metrics/query-metrics";
import { parseIncomplete } from "@sounding/traceql/syntax/parse-incomplete";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { printQuery } from "@sounding/traceql/syntax/print";
import { arbitraryTraces } from "../../../packages/traceql/test/support/arbitrary-traces.ts";
import { MemoryTraces } from "@sounding/traceql/memory-storage";
import { hostileString } from "../hostile-values.ts";
import { queryRequest, type Parameters } from "../query-request.ts";
import { presentMs, type Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";
import { traceqlText } from "../traceql-text.ts";

const paths: readonly (readonly [path: string, ...parameters: string[]])[] = [
  ["api/traces/{id}", "start", "end"],
  ["api/v2/traces/{id}", "start", "end"],
  ["api/search", "q", "start", "end", "limit", "spss"],
  ["api/search", "tags", "minDuration", "maxDuration", "start", "end", "limit", "spss"],
  ["api/metrics/query_range", "q", "start", "end", "since", "step", "exemplars"],
  ["api/metrics/query", "q", "query", "start", "end", "since"],
  ["api/search/tags", "scope", "start", "end", "q", "limit"],
  ["api/v2/search/tags", "scope", "start", "end", "q", "limit"],
  ["api/search/tag/{tag}/values", "start", "end", "q", "limit"],
  ["api/v2/search/tag/{tag}/values", "start", "end", "q", "limit"],
  ["api/status/buildinfo"],
  ["api/echo"],
  ["ready"],
];
const durations = ["1s", "15", "60s", "1h", "0", "-1s", "1ms", "1ns", "1e-9", "NaN", "1y", "99999999h", "x", ""];
const counts = ["1", "20", "5000", "100000", "0", "-1", "1.5", "1e3", "99999999999999999999", "NaN", "", "x"];

function valueOf(name: string, random: Random): string {
  switch (name) {
    case "q":
    case "query":
      return traceqlText(random);
    case "tags":
      return random.pick(['service.name=fuzz user="ada b"', "a=", "=a", '"', "error=true", hostileString(random, 500)]);
    case "scope":
      return random.pick(["span", "resource", "event", "link", "instrumentation", "intrinsic", "none", "x", ""]);
    case "start":
    case "end": {
      const seconds = presentMs / 1000 - random.size(100_000);
      const present = new Date(seconds * 1000).toISOString();
      const odd = ["0", "-1", "1e18", "NaN", "9".repeat(50), "4294967295", "9223372036854775807", "x", ""];
      return random.pick([String(seconds), String(seconds), `${seconds}000000000`, present, random.pick(odd)]);
    }
    case "step":
    case "since":
    case "minDuration":
    case "maxDuration":
      return random.pick(durations);
    default:
      return random.pick(counts);
  }
}

const tags = [
  "service.name",
  "name",
  "status",
  "span.user",
  "resource.service.name",
  ".a",
  "span.code",
  "rootName",
  "span.`a`",
  'span."a b"',
  "event:name",
  "parent.x",
  "a/b",
] as const;
const ids = ["ab".repeat(16), "ab", "0", "x", "AB".repeat(16), "f".repeat(33), "0".repeat(32)] as const;

export const tempoTarget: ServedTarget = {
  kind: "served",
  name: "tempo",
  perSecond: 150,
  transport: "http1",
  share: 2,
  generate(random) {
    const [path, ...names] = random.pick(paths);
    const parameters: Parameters = names
      .filter((name) => random.chance(name === "q" ? 0.8 : 0.6))
      .map((name) => [random.chance(0.98) ? name : hostileString(random, 40), valueOf(name, random)]);
    const segment = (values: readonly string[]): string => {
      const value = random.chance(0.8) ? random.pick(values) : hostileString(random, 300);
      return random.chance(0.9) ? encodeURIComponent(value.toWellFormed()) : value.replaceAll(/[^\x21-\x7e]|[?#]/g, "");
    };
    return queryRequest(random, {
      path: `/tempo/${path.replace("{id}", () => segment(ids)).replace("{tag}", () => segment(tags))}`,
      parameters,
      headers: random.chance(0.1) ? [["accept", "application/protobuf"]] : [],
      hasForm: false,
    });
  },
};

const refusal = (error: unknown): string => {
  const { status } = toAppError(error);
  if (status < 500) return String(status);
  throw error;
};

/** An accepted query can be printed, and the printed text parses to the same tree. */
export const traceqlParserTarget: DirectTarget = {
  kind: "direct",
  name: "traceql-parser",
  perSecond: 2500,
  share: 2,
  generate: (random) => Buffer.from(traceqlText(random)),
  run(input) {
    const text = Buffer.from(input).toString("utf8");
    let printed: string;
    try {
      parseIncomplete(text);
      printed = printQuery(parseQuery(text));
    } catch (error) {
      return refusal(error);
    }
    const again = printQuery(parseQuery(printed));
    if (again !== printed) throw new Error(`printed ${printed.slice(0, 300)}, then ${again.slice(0, 300)}`);
    return "parsed";
  },
};

const traces = fc.sample(arbitraryTraces, { seed: 1, numRuns: 4 }).flat();
const second = 1_000_000_000n;

/** Every query has a result, or an error that says why not. */
export const traceqlEngineTarget: DirectTarget = {
  kind: "direct",
  name: "traceql-engine",
  perSecond: 1000,
  share: 2,
  generate: (random) => Buffer.concat([random.bytes(1), Buffer.from(traceqlText(random))]),
  async run(input) {
    const text = Buffer.from(input.subarray(1)).toString("utf8");
    const shape = input[0] ?? 0;
    const times = { startUnixNano: 990n * second, endUnixNano: 1070n * second };
    const storage = new MemoryTraces(traces, { skips: shape % 2 === 0 });
    try {
      const query = parseQuery(text);
      if (query.kind === "search-query") {
        await searchTraces(storage, { query, ...times, limit: 1 + (shape >> 4), spansPerSpanSet: shape % 4 });
        return "search";
      }
      if (shape % 3 === 0) await queryTraceqlInstant(storage, { query, ...times });
      else await queryTraceqlRange(storage, { query, ...times, stepNano: [second, 60n * second][shape % 2]! });
      return "metrics";
    } catch (error) {
      return refusal(error);
    }
  },
};
