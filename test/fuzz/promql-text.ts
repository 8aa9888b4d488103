/** PromQL text from a grammar, so that most of it parses, and mutations of it. */
import { functionSignatures } from "@sounding/promql/syntax/functions";
import { mutateText } from "./mutate-bytes.ts";
import type { Random } from "./random.ts";

const metrics = [
  "fuzz_requests_total",
  "fuzz_gauge",
  "fuzz_seconds_bucket",
  "fuzz_seconds",
  "inference_requests_total",
  "token_consumption",
  "up",
  "absent_metric",
];
const labels = ["job", "l0", "l1", "le", "model_key", "__name__", "project_name", "\u00e9"];
const values = [
  "",
  "a",
  "a0",
  ".*",
  ".+",
  "a|b|c",
  "[ab]0?",
  "a{100}a{100}",
  "(a|b)*c",
  "(?i)A0",
  "((((a))))",
  "\\\\d+",
  "^(((a?){10}){10}){10}$",
  "x".repeat(300),
];
const durations = ["1s", "1m", "5m", "1h", "1d", "1y", "1ms", "0s", "300y", "5m30s", "step()"];
const aggregations = ["sum", "avg", "count", "min", "max", "group", "stddev", "stdvar"];
const withParameter = ["topk", "bottomk", "quantile", "limitk", "limit_ratio", "count_values"];
const operators = ["+", "-", "*", "/", "%", "^", "==", "!=", "<", ">", "<=", ">=", "and", "or", "unless", "atan2"];
const functions = [...functionSignatures.keys()];

function matchers(random: Random): string {
  const count = random.size(5);
  if (count === 0) return "";
  const each = (): string =>
    `${JSON.stringify(random.pick(labels))}${random.pick(["=", "!=", "=~", "!~"])}"${random.pick(values)}"`;
  return `{${Array.from({ length: count }, each).join(",")}}`;
}

const number = (random: Random): string =>
  random.pick(["0", "1", "-1", "2.5", "1e10", "Inf", "NaN", "0x1f", "1000000"]);
const selector = (random: Random): string => `${random.pick(metrics)}${matchers(random)}`;
const modifiers = (random: Random): string =>
  (random.chance(0.1) ? ` offset ${random.pick(["", "-"])}${random.pick(durations)}` : "") +
  (random.chance(0.1) ? ` @ ${random.pick(["0", "1e9", "start()", "end()", "1700000000"])}` : "");

function matrix(random: Random, depth: number): string {
  if (depth <= 0 || random.chance(0.6)) return `${selector(random)}[${random.pick(durations)}]${modifiers(random)}`;
  return `(${vector(random, depth - 1)})[${random.pick(durations)}:${random.chance(0.3) ? "" : random.pick(durations)}]${modifiers(random)}`;
}

function vector(random: Random, depth: number): string {
  if (depth <= 0) return random.chance(0.8) ? `${selector(random)}${modifiers(random)}` : `vector(${number(random)})`;
  const grouping = random.chance(0.5) ? ` ${random.pick(["by", "without"])} (${random.pick(labels.slice(0, 5))})` : "";
  switch (random.below(8)) {
    case 0:
      return `${random.pick(aggregations)}${grouping}(${vector(random, depth - 1)})`;
    case 1:
      return `${random.pick(withParameter)}${grouping}(${random.chance(0.7) ? number(random) : '"l"'}, ${vector(random, depth - 1)})`;
    case 2:
      return `(${vector(random, depth - 1)} ${random.pick(operators)}${random.chance(0.1) ? " bool" : ""}${random.chance(0.3) ? ` ${random.pick(["on", "ignoring"])}(${random.pick(labels.slice(0, 4))})${random.chance(0.5) ? ` ${random.pick(["group_left", "group_right"])}()` : ""}` : ""} ${random.chance(0.3) ? number(random) : vector(random, depth - 1)})`;
    case 3:
      return `${random.pick(["rate", "increase", "sum_over_time", "last_over_time", "quantile_over_time", "changes", "deriv", "absent_over_time", "double_exponential_smoothing", "predict_linear"])}(${matrix(random, depth)}${random.chance(0.1) ? `, ${number(random)}` : ""})`;
    case 4:
      return `label_replace(${vector(random, depth - 1)}, "l9", "$1${random.pick(values)}", "${random.pick(labels.slice(0, 5))}", "${random.pick(values)}")`;
    case 5:
      return `label_join(${vector(random, depth - 1)}, "l9", "${random.pick(["", ",", "x".repeat(100)])}", "job", "l0")`;
    case 6:
      return `histogram_quantile(${number(random)}, ${vector(random, depth - 1)})`;
    default: {
      const name = random.pick(functions);
      const args = Array.from({ length: random.size(4) }, () =>
        random.chance(0.4)
          ? matrix(random, depth - 1)
          : random.chance(0.3)
            ? number(random)
            : vector(random, depth - 1),
      );
      return `${name}(${args.join(", ")})`;
    }
  }
}

const fragments = [
  ...Array.from("(){}[],:@=~!\"'\\\0é"),
  "offset",
  "by",
  "bool",
  "on(",
  "((((",
  "{{",
  "[1y:1s]",
  "9".repeat(400),
  "#",
  "\uD800",
  "=~",
  "5m",
  "-",
  "+",
  " ",
];

export function promqlText(random: Random): string {
  const text = vector(random, random.size(5));
  if (random.chance(0.7)) return text;
  if (random.chance(0.05))
    return random.pick(["(", "-", "sum(", "{", "1+", "vector(1)+", "a="]).repeat(1 + random.size(30_000));
  return mutateText(text, random, fragments);
}

export function seriesSelector(random: Random): string {
  return random.chance(0.85) ? selector(random) : mutateText(selector(random), random, fragments);
}

export const promqlTimes = [
  "0",
  "1",
  "now",
  "1700000000",
  "1e18",
  "-1",
  "NaN",
  "Inf",
  "2026-11-22T00:00:00Z",
  "9999999999",
  "",
] as const;
export const promqlSteps = ["1", "15", "60", "1h", "0", "-1", "1ms", "1e-9", "NaN", "1y"] as const;
