/**
 * The functions of PromQL and the types of their arguments, those that Prometheus calls experimental included.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/
 */
import type { ValueType } from "./ast.ts";

export interface FunctionSignature {
  readonly arguments: readonly ValueType[];
  /** How often the last argument may be omitted or repeated: 1 optional, -1 any number of times. */
  readonly variadic: number;
  readonly returns: "scalar" | "vector";
}

const signatures = new Map<string, FunctionSignature>();

/** The arguments as a list of words; `?` marks an optional last one, `*` one that may be repeated or omitted. */
function define(names: string, parameters: string, returns: "scalar" | "vector" = "vector"): void {
  const words = parameters.split(" ").filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  const variadic = last.endsWith("?") ? 1 : last.endsWith("*") ? -1 : 0;
  const types = words.map((word) => word.replace(/[?*]$/, "") as ValueType);
  for (const name of names.split(" ")) signatures.set(name, { arguments: types, variadic, returns });
}

define("abs ceil exp floor ln log10 log2 sgn sqrt deg rad", "vector");
define("acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh", "vector");
define("absent sort sort_desc timestamp start_timestamp", "vector");
define("histogram_avg histogram_count histogram_sum histogram_stddev histogram_stdvar", "vector");
define("days_in_month day_of_month day_of_week day_of_year hour minute month year", "vector?");
define("absent_over_time avg_over_time changes count_over_time delta deriv first_over_time", "matrix");
define("idelta increase irate last_over_time mad_over_time max_over_time min_over_time", "matrix");
define("present_over_time rate resets stddev_over_time stdvar_over_time sum_over_time", "matrix");
define("ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time", "matrix");
define("predict_linear", "matrix scalar");
define("quantile_over_time", "scalar matrix");
define("double_exponential_smoothing", "matrix scalar scalar");
define("clamp", "vector scalar scalar");
define("clamp_max clamp_min", "vector scalar");
define("round", "vector scalar?");
define("histogram_fraction", "scalar scalar vector");
define("histogram_quantile", "scalar vector");
define("info", "vector vector?");
define("label_replace", "vector string string string string");
define("label_join", "vector string string string*");
define("sort_by_label sort_by_label_desc", "vector string*");
define("vector", "scalar");
define("scalar", "vector", "scalar");
define("start end step range pi time", "", "scalar");
define("max_of min_of", "scalar scalar", "scalar");
signatures.set("histogram_quantiles", {
  arguments: ["vector", "string", "scalar", "scalar"],
  variadic: 9,
  returns: "vector",
});

/** Every function by its name. */
export const functionSignatures: ReadonlyMap<string, FunctionSignature> = signatures;

/** Functions of Prometheus 2 that have another name now. */
export const renamedFunctions: ReadonlyMap<string, string> = new Map([
  ["holt_winters", "double_exponential_smoothing"],
]);
