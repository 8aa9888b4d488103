/** The queries of the comparison with Prometheus, by subject. Each runs at several times and over several ranges. */

const counter = "http_requests_total";
const gauge = "queue_length";
const bucket = "request_duration_seconds_bucket";

const selectors = [
  counter,
  `${counter}{route="/a"}`,
  `${counter}{route!="/a",code="500"}`,
  `${counter}{route=~"/[ab]",code!~"5.."}`,
  `${counter}{missing=""}`,
  `{__name__=~"queue_.+",shard="3"}`,
  `{__name__=~"queue_(length|limit)",zone!~"w.*"}`,
  `${counter} offset 10m`,
  `${counter} offset -10m`,
  `${gauge} offset 90m`,
  "odd",
  `${bucket}{le="+Inf"}`,
  `${bucket}{le=~"0.*"}`,
  "memory_usage_bytes",
];

const overTime = ["rate", "increase", "delta", "irate", "idelta", "deriv", "resets", "changes"].flatMap((name) => [
  `${name}(${counter}[5m])`,
  `${name}(${gauge}[10m])`,
  `${name}(${counter}{route="/b"}[47s])`,
  `${name}(${counter}[1h] offset 7m)`,
]);

const statistics = ["avg", "min", "max", "sum", "count", "last", "present", "stddev", "stdvar"].flatMap((name) => [
  `${name}_over_time(${gauge}[5m])`,
  `${name}_over_time(${counter}[33m])`,
  `${name}_over_time(odd{kind="finite"}[4m])`,
]);

const moreOverTime = [
  `quantile_over_time(0.9, ${gauge}[20m])`,
  `quantile_over_time(0, ${counter}[20m])`,
  `quantile_over_time(1.5, ${gauge}[20m])`,
  `quantile_over_time(-1, ${gauge}[20m])`,
  `predict_linear(${gauge}[15m], 600)`,
  `predict_linear(${counter}{code="200"}[30m], -300)`,
  `absent_over_time(${gauge}{shard="9"}[5m])`,
  `absent_over_time(${gauge}[5m])`,
  `max_over_time(odd[3m])`,
  `min_over_time(odd[3m])`,
  `sum_over_time(odd[1m])`,
  `count_over_time(odd[3m])`,
  `last_over_time(odd[3m])`,
];

const groupings = ["", " by (zone)", " by (shard, nothing)", " without (shard)", " without (zone, instance, job)"];
const aggregations = [
  ...["sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"].flatMap((name) =>
    groupings.map((grouping) => `${name}${grouping} (${gauge})`),
  ),
  ...["sum", "avg", "max", "count"].map((name) => `${name} by (kind) (odd)`),
  ...groupings.flatMap((grouping) => [
    `topk${grouping} (2, ${gauge})`,
    `bottomk${grouping} (1, ${gauge})`,
    `quantile${grouping} (0.7, ${gauge})`,
  ]),
  `quantile(-0.5, ${gauge})`,
  `quantile(2, ${gauge})`,
  `count_values("value", queue_limit)`,
  `count_values by (zone) ("limit", floor(${gauge} / 10))`,
  `topk(3, ${counter})`,
  `sum by (route) (rate(${counter}[5m]))`,
  `sum without (instance, code) (rate(${counter}[7m]))`,
  `avg by (code) (increase(${counter}[30m]))`,
  `max(sum by (instance) (irate(${counter}[2m])))`,
  `count(${counter} > 500)`,
];

const operators = [
  ...["+", "-", "*", "/", "%", "^"].flatMap((operator) => [
    `${gauge} ${operator} 7`,
    `7 ${operator} ${gauge}`,
    `${gauge} ${operator} on (shard) queue_limit`,
  ]),
  `${gauge} atan2 on (shard) queue_limit`,
  ...["==", "!=", ">", "<", ">=", "<="].flatMap((operator) => [
    `${gauge} ${operator} bool 25`,
    `queue_limit ${operator} 30`,
    `30 ${operator} queue_limit`,
    `${gauge} ${operator} bool ignoring (zone) queue_limit`,
    `queue_limit ${operator} on (shard) (queue_limit > 20 or 30 - queue_limit)`,
  ]),
  `-${gauge}`,
  `-(2 ^ 3) ^ 2 + ${gauge}`,
  `1 - -1`,
  `2 ^ 3 ^ 2`,
  `1 / 0`,
  `0 / 0`,
  `5 > bool 3`,
  `${gauge} and ${gauge} > 20`,
  `${gauge} or queue_limit`,
  `${gauge} unless on (shard) (queue_limit > 30)`,
  `${gauge} and on (zone) ${gauge}{shard="2"}`,
  `${gauge} or on (shard) queue_limit`,
  `memory_usage_bytes * on (instance) group_left (role) node_info`,
  `node_info * on (instance) group_right () memory_usage_bytes`,
  `sum by (instance, code) (rate(${counter}[5m])) / ignoring (code) group_left sum by (instance) (rate(${counter}[5m]))`,
  `sum(rate(${counter}{code="500"}[5m])) / sum(rate(${counter}[5m]))`,
  `rate(${counter}{code="500"}[5m]) / ignoring (code) rate(${counter}{code="200"}[5m])`,
  `(${gauge} > 20) / on (shard) (queue_limit < 40)`,
];

const instantFunctions = [
  ...["abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn", "round", "deg", "rad"].map(
    (name) => `${name}(${gauge})`,
  ),
  ...["sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan"].map((name) => `${name}(${gauge} / 50)`),
  ...["asin", "acos", "atanh"].map((name) => `${name}(${gauge} / 100)`),
  `acosh(${gauge})`,
  `round(${gauge}, 0.25)`,
  `round(${gauge}, 7)`,
  `clamp(${gauge}, 10, 30)`,
  `clamp_min(${gauge}, 20)`,
  `clamp_max(${gauge}, 20)`,
  `timestamp(${gauge})`,
  `timestamp(${gauge} + 1)`,
  `time()`,
  `time() - timestamp(${counter})`,
  `pi()`,
  `vector(3)`,
  `scalar(sum(${gauge}))`,
  `scalar(${gauge})`,
  `vector(scalar(${gauge}{shard="1"})) * 2`,
  `absent(${gauge})`,
  `absent(nothing{a="b",c!="d",e=~"f"})`,
  ...["minute", "hour", "day_of_week", "day_of_month", "day_of_year", "days_in_month", "month", "year"].flatMap(
    (name) => [`${name}()`, `${name}(${gauge} * 1e6 + 1.4e9)`],
  ),
  `label_replace(${gauge}, "where", "$1-$2", "zone", "(e|w)(.*)")`,
  `label_replace(${gauge}, "zone", "", "zone", ".*")`,
  `label_replace(${gauge}, "other", "x$1", "nothing", "(.*)")`,
  `label_join(${gauge}, "all", "/", "zone", "shard", "nothing")`,
];

const histograms = [
  ...["0", "0.5", "0.9", "0.999", "1", "-1", "2"].map((q) => `histogram_quantile(${q}, rate(${bucket}[5m]))`),
  `histogram_quantile(0.95, sum by (le) (rate(${bucket}[5m])))`,
  `histogram_quantile(0.5, sum by (le, route) (increase(${bucket}[20m])))`,
  `histogram_quantile(0.9, ${bucket})`,
  `histogram_quantile(0.9, ${bucket}{le!="+Inf"})`,
  `rate(request_duration_seconds_sum[5m]) / rate(request_duration_seconds_count[5m])`,
  `sum(rate(${bucket}{le="0.5"}[5m])) / sum(rate(request_duration_seconds_count[5m]))`,
];

const subqueries = [
  `max_over_time(${gauge}[30m:1m])`,
  `avg_over_time(rate(${counter}[5m])[30m:2m])`,
  `max_over_time(sum(rate(${counter}[2m]))[20m:])`,
  `rate(sum by (code) (${counter}{route="/a"})[10m:30s])`,
  `min_over_time((${gauge} > 20)[15m:1m] offset 5m)`,
  `sum_over_time(max_over_time(${gauge}[5m30s:1m])[10m:3m])`,
  `quantile_over_time(0.5, (${gauge} * 2)[1h:7m])`,
  `count_over_time(${gauge}[1h:40s])`,
  `deriv((${gauge} + 1)[20m:1m])`,
];

/** Fixed times: `END` represents the last sample's time in seconds. */
const fixedTimes = [
  `${gauge} @ END`,
  `${counter} @ end() - ${counter} @ start()`,
  `rate(${counter}[5m] @ END)`,
  `rate(${counter}[5m] @ start())`,
  `sum(${gauge} @ END offset 20m)`,
  `max_over_time(${gauge}[10m30s:1m] @ END)`,
  `${gauge} - on (shard) ${gauge} @ end()`,
  `topk(1, ${gauge} @ end()) and ${gauge}`,
];

export const comparedQueries: Readonly<Record<string, readonly string[]>> = {
  selectors,
  "functions of ranges": overTime,
  "statistics over time": statistics,
  "other functions over time": moreOverTime,
  aggregations,
  operators,
  "functions of vectors": instantFunctions,
  histograms,
  subqueries,
  "fixed times": fixedTimes,
};

/** Queries without results, in both systems. */
export const emptyQueries: readonly string[] = [
  "nothing_like_this",
  `${counter}{missing!=""}`,
  `${gauge} == 12.3456`,
  `queue_limit != queue_limit`,
  `clamp(${gauge}, 30, 10)`,
];

/** Whose result at one time is compared only as an instant query. */
export const comparedInstantQueries: readonly string[] = [
  `sort(${gauge})`,
  `sort_desc(${gauge})`,
  `sort_desc(sum by (route) (rate(${counter}[5m])))`,
  `topk(3, ${gauge})`,
  `bottomk(3, ${gauge})`,
  `"text"`,
  `${gauge}[2m]`,
  `${counter}[5m] offset 30m`,
  `(${gauge} * 2)[10m:1m]`,
  `rate(${counter}[1m])[10m:2m]`,
];

/** A name that Prometheus 3 changed: ours, and what Prometheus 2 calls it. */
export const renamedQueries: readonly { readonly ours: string; readonly theirs: string }[] = [
  {
    ours: `double_exponential_smoothing(${gauge}[10m], 0.5, 0.3)`,
    theirs: `holt_winters(${gauge}[10m], 0.5, 0.3)`,
  },
];
