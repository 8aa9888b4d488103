/** LogQL: over Loki's HTTP API, and directly to the parser, the printers and the engine. */
import { toAppError } from "../../../packages/server/src/errors.ts";
import { queryLogqlInstant, queryLogqlRange } from "@sounding/logql/engine";
import { formatLogql } from "@sounding/logql/syntax/format";
import { parseLogql, parseLogqlQuery } from "@sounding/logql/syntax/parse-query";
import { printLogql } from "@sounding/logql/syntax/print";
import { Budget } from "@sounding/promql/evaluate/budget";
import { defaultLimits } from "@sounding/logql/evaluate/limits";
import { MemoryLogStorage } from "@sounding/logql/memory-storage";
import { logSelector, logqlText } from "../logql-text.ts";
import { hostileString } from "../hostile-values.ts";
import { queryRequest, type Parameters } from "../query-request.ts";
import { presentMs, type Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";

const paths: readonly (readonly [path: string, ...parameters: string[]])[] = [
  ["query", "query", "time", "limit", "direction"],
  ["query_range", "query", "start", "end", "since", "step", "interval", "limit", "direction"],
  ["query_range", "query", "start", "end", "step", "limit"],
  ["labels", "start", "end", "since", "query"],
  ["label", "start", "end"],
  ["label/{name}/values", "start", "end", "since", "query"],
  ["series", "match[]", "match[]", "start", "end"],
  ["index/stats", "query", "start", "end"],
  ["index/volume", "query", "start", "end", "limit", "targetLabels", "aggregateBy"],
  ["index/volume_range", "query", "start", "end", "step", "limit", "targetLabels", "aggregateBy"],
  ["patterns", "query", "start", "end", "step"],
  ["detected_labels", "query", "start", "end"],
  ["detected_fields", "query", "start", "end", "line_limit", "limit"],
  ["detected_field/{name}/values", "query", "start", "end", "line_limit", "limit"],
  ["drilldown-limits"],
  ["format_query", "query"],
  ["status/buildinfo"],
  ["rules"],
  ["tail", "query", "limit", "start", "delay_for"],
];
const queryPaths: ReadonlySet<string> = new Set(["query", "query_range", "format_query"]);

function valueOf(name: string, path: string, random: Random): string {
  switch (name) {
    case "query":
      return queryPaths.has(path) ? logqlText(random) : logSelector(random);
    case "match[]":
      return logSelector(random);
    case "direction":
      return random.pick(["forward", "backward", "BACKWARD", "x", ""]);
    case "targetLabels":
      return random.pick(["app", "app,level", ",", "x".repeat(1000), ""]);
    case "aggregateBy":
      return random.pick(["series", "labels", "x", ""]);
    case "start":
    case "end":
    case "time":
      return random.pick(times(random));
    case "step":
    case "interval":
    case "since":
    case "delay_for":
      return random.pick(durations);
    default:
      return random.pick(counts);
  }
}

const durations = ["1", "15", "60", "0.5", "1h", "30s", "0", "-1", "1ms", "1ns", "1e-9", "NaN", "1y", "1e300", "x", ""];
const counts = ["1", "10", "5000", "100000", "0", "-1", "1.5", "1e3", "99999999999999999999", "NaN", "", "x"];
function times(random: Random): readonly string[] {
  const seconds = presentMs / 1000 - random.size(100_000);
  return [
    String(seconds),
    `${seconds}000000000`,
    `${seconds}.123456789`,
    new Date(seconds * 1000).toISOString(),
    "0",
    "now",
    "1e18",
    "9223372036854775807",
    "9".repeat(50),
    "-1",
    "NaN",
    "Inf",
    "2026-02-30T00:00:00Z",
    "9999-12-31T23:59:59.999999999+23:59",
    "",
  ];
}

export const lokiTarget: ServedTarget = {
  kind: "served",
  name: "loki",
  perSecond: 150,
  transport: "http1",
  share: 2,
  generate(random) {
    const [path, ...names] = random.pick(paths);
    const parameters: Parameters = names
      .filter((name) => name === "query" || random.chance(0.6))
      .map((name) => [random.chance(0.98) ? name : hostileString(random, 40), valueOf(name, path, random)]);
    const label = random.pick(["app", "level", "service_name", "detected_level", "a", hostileString(random, 300)]);
    const flags = random.pick(["categorize-labels", "", "x,categorize-labels", hostileString(random, 200)]);
    return queryRequest(random, {
      path: `/loki/api/v1/${path.replace("{name}", () => encodeURIComponent(label.toWellFormed()))}`,
      parameters,
      headers: random.chance(0.3) ? [["x-loki-response-encoding-flags", flags]] : [],
      hasForm: path === "query" || path === "query_range" || path === "series" || path === "format_query",
    });
  },
};

const refusal = (error: unknown): string => {
  const { status } = toAppError(error);
  if (status < 500) return String(status);
  throw error;
};

/** An accepted query can be printed and formatted, and both texts parse to the same tree. */
export const logqlParserTarget: DirectTarget = {
  kind: "direct",
  name: "logql-parser",
  perSecond: 2500,
  share: 2,
  generate: (random) => Buffer.from(logqlText(random)),
  async run(input) {
    const text = Buffer.from(input).toString("utf8");
    let printed: string;
    let formatted: string;
    try {
      const tree = await parseLogqlQuery(text, new Budget(defaultLimits, new AbortController().signal));
      printed = printLogql(tree);
      formatted = formatLogql(tree);
    } catch (error) {
      return refusal(error);
    }
    for (const again of [printLogql(parseLogql(printed)), printLogql(parseLogql(formatted))])
      if (again !== printed) throw new Error(`printed ${printed.slice(0, 300)}, then ${again.slice(0, 300)}`);
    return "parsed";
  },
};

const second = 1_000_000_000n;
const lines = [
  'a=1 b=x level=info took=12ms size=5KB msg="GET /x?a=b"',
  '{"status":200,"took":"1.5s","ip":"10.0.0.1","size":"1MiB","b":{"c":[1,{"d":null}]},"a":"é"}',
  "GET /x 200 12ms timeout",
  "",
  "\u0000\uD800 a=",
  'a=NaN b=+Inf c="\\u00e9\\',
  'a=1e999 =b == "',
  "\u001B[31merror\u001B[0m 10.0.0.7 ::1 999.1.1.1",
  `a=${"a".repeat(3000)} ${"=".repeat(500)}`,
  '{"_entry":"x","a":"1","__error__":"y","trace_id":7}',
  "[".repeat(2000),
] as const;
const storage = new MemoryLogStorage();
for (const [index, line] of lines.entries()) {
  storage.add({ app: index % 2 === 0 ? "a" : "b", service_name: "fuzz", level: "info" }, [
    { unixNano: BigInt(index) * second, line, structuredMetadata: ["a", String(index), "trace_id", "0a1b"] },
    { unixNano: BigInt(index) * second + 7n, line },
  ]);
}

/** Every query has a result, or an error that says why not. */
export const logqlEngineTarget: DirectTarget = {
  kind: "direct",
  name: "logql-engine",
  perSecond: 1000,
  share: 2,
  generate: (random) => Buffer.concat([random.bytes(1), Buffer.from(logqlText(random))]),
  async run(input) {
    const query = Buffer.from(input.subarray(1)).toString("utf8");
    const shape = input[0] ?? 0;
    storage.asked.length = 0;
    try {
      if (shape % 4 === 0) {
        return (await queryLogqlInstant(storage, { query, timeUnixNano: 11n * second })).value.type;
      }
      const { value } = await queryLogqlRange(storage, {
        query,
        startUnixNano: 0n,
        endUnixNano: 12n * second,
        stepMs: [1000, 250, 3600_000][shape % 3]!,
        direction: shape % 2 === 0 ? "forward" : "backward",
        limit: 1 + (shape >> 3),
        intervalMs: shape > 240 ? 1500 : 0,
        categorizesLabels: shape > 128,
      });
      return value.type;
    } catch (error) {
      return refusal(error);
    }
  },
};
