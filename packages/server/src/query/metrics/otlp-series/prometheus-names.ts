/**
 * Converts OpenTelemetry's names of metrics and attributes to Prometheus' names of metrics and labels.
 * https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#otlp-metric-points-to-prometheus
 */
import { prometheusUnit } from "../../../store/metric-tables.ts";

/** UCUM units with a name in Prometheus; others are kept unchanged. */
const unitWords: ReadonlyMap<string, string> = new Map([
  ["d", "days"],
  ["h", "hours"],
  ["min", "minutes"],
  ["s", "seconds"],
  ["ms", "milliseconds"],
  ["us", "microseconds"],
  ["ns", "nanoseconds"],
  ["By", "bytes"],
  ["KiBy", "kibibytes"],
  ["MiBy", "mebibytes"],
  ["GiBy", "gibibytes"],
  ["TiBy", "tebibytes"],
  ["KBy", "kilobytes"],
  ["MBy", "megabytes"],
  ["GBy", "gigabytes"],
  ["TBy", "terabytes"],
  ["m", "meters"],
  ["V", "volts"],
  ["A", "amperes"],
  ["J", "joules"],
  ["W", "watts"],
  ["g", "grams"],
  ["Cel", "celsius"],
  ["Hz", "hertz"],
  ["1", ""],
  ["%", "percent"],
]);

/** Units after a slash. */
const perUnitWords: ReadonlyMap<string, string> = new Map([
  ["s", "second"],
  ["m", "minute"],
  ["h", "hour"],
  ["d", "day"],
  ["w", "week"],
  ["mo", "month"],
  ["y", "year"],
]);

export interface NamedMetric {
  /** OpenTelemetry's name. */
  readonly name: string;
  /** UCUM. */
  readonly unit: string;
  /** A monotonic sum. */
  readonly isCounter: boolean;
  readonly isGauge: boolean;
}

/** The metric's name in PromQL: `http.server.duration` in `ms` is `http_server_duration_milliseconds`. */
export function metricName({ isCounter, isGauge, name, unit }: NamedMetric): string {
  if (unit === prometheusUnit) return name;
  let words = name.split(/[^A-Za-z0-9:]+/).filter((word) => word !== "");
  for (const word of unitSuffix(unit)) if (!words.includes(word)) words.push(word);
  if (isCounter) words = [...words.filter((word) => word !== "total"), "total"];
  if (isGauge && unit === "1") words = [...words.filter((word) => word !== "ratio"), "ratio"];
  const joined = words.join("_");
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

/** A unit's words: those of `m/s` are `meters` and `per_second`. Annotations in braces are dropped. */
function unitSuffix(unit: string): string[] {
  const [main = "", per] = unit.replaceAll(/\{[^}]*\}/g, "").split("/", 2);
  const mainWord = unitWords.get(main.trim()) ?? cleanUnit(main);
  const perWord = per === undefined ? "" : (perUnitWords.get(per.trim()) ?? cleanUnit(per));
  return [mainWord, perWord === "" ? "" : `per_${perWord}`].filter((word) => word !== "");
}

function cleanUnit(unit: string): string {
  return unit.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
}

/** An attribute's name as a label: `http.route` is `http_route`, `2xx` is `key_2xx`, `__a` is `key_a`; `__a__` is reserved and kept. */
export function labelName(attribute: string): string {
  const name = attribute.replaceAll(/[^A-Za-z0-9_]/g, "_");
  return /^[\d_]/.test(name) && !/^__.+__$/.test(name) ? `key_${name.replace(/^_+/, "")}` : name;
}

/** Attributes as labels. If several attributes map to one label, their values are joined in the order of their names. */
export function attributeLabels(attributes: Iterable<readonly [name: string, value: string]>): Map<string, string> {
  const labels = new Map<string, string>();
  const sorted = [...attributes].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  for (const [attribute, value] of sorted) {
    // A label needs a name.
    if (attribute === "") continue;
    const name = labelName(attribute);
    const before = labels.get(name);
    labels.set(name, before === undefined ? value : `${before};${value}`);
  }
  return labels;
}
