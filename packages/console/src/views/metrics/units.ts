/** The unit of a query's values, from the metadata of the metrics that it names. */
import { formatBytes, formatCount, formatDuration, formatShare } from "../../design/format.ts";
import type { MetadataJson } from "./prometheus.ts";

export type Unit = "seconds" | "bytes" | "ratio" | "per second" | "none";

type Metadata = Readonly<Record<string, readonly MetadataJson[]>>;

const parts = /_(?:bucket|count|sum|total)$/;
/** Quantiles and averages have the unit of the histogram. */
const ofHistogram = /\bhistogram_(?:quantiles?|avg|stddev)\b/;
const perSecond = /\bi?rate\s*\(/;
/** What counts series rather than computing with their values. */
const counting = /^\s*(?:count|count_values|group|absent)\b/;

/** The unit of the values; `none` if it is unknown or the parts of the query have different ones. */
export function unitOf(query: string, metadata: Metadata): Unit {
  if (counting.test(query)) return "none";
  const names = namesIn(query, metadata);
  const units = new Set(names.map((name) => unitOfName(query, name, metadata)));
  if (isMean(query, names)) return unitOfMetric(metadata[names[0]!.replace(parts, "")]);
  const [unit, ...others] = units;
  if (unit === undefined || others.length > 0) return "none";
  const uses = allNames(query, metadata).length;
  if (!hasQuotient(query) || uses < 2) return unit;
  // One metric divided by itself is a share; of two metrics, nobody knows.
  return names.length === 1 && !/\bcount\b|\*/.test(query) ? "ratio" : "none";
}

function namesIn(query: string, metadata: Metadata): string[] {
  return [...new Set(allNames(query, metadata))];
}

function allNames(query: string, metadata: Metadata): string[] {
  const words = query.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""').match(/[A-Za-z_:][\w:]*/g) ?? [];
  return words.filter((word) => word in metadata || word.replace(parts, "") in metadata);
}

function unitOfName(query: string, name: string, metadata: Metadata): Unit {
  const own = metadata[name] ?? metadata[name.replace(parts, "")];
  if (ofHistogram.test(query)) return unitOfMetric(own);
  const counts = /_(?:bucket|count)$/.test(name);
  const unit = counts ? "none" : unitOfMetric(own);
  if (!perSecond.test(query)) return unit;
  // Seconds per second are a share; other rates are what they are, per second.
  return unit === "seconds" ? "ratio" : unit === "none" ? "per second" : "none";
}

/** `…_sum / …_count`. */
function isMean(query: string, names: readonly string[]): boolean {
  const bases = new Set(names.map((name) => name.replace(parts, "")));
  const suffixes = new Set(names.map((name) => parts.exec(name)?.[0]));
  return hasQuotient(query) && bases.size === 1 && suffixes.has("_sum") && suffixes.has("_count");
}

function hasQuotient(query: string): boolean {
  return /[/*]/.test(query.replaceAll(/"(?:[^"\\]|\\.)*"/g, ""));
}

function unitOfMetric(all: readonly MetadataJson[] | undefined): Unit {
  const unit = all?.[0]?.unit ?? "";
  if (unit === "s" || unit === "seconds") return "seconds";
  if (unit === "By" || unit === "bytes") return "bytes";
  return "none";
}

/** The unit of a preset, as its description says. */
export function unitOfPreset(unit: string): Unit {
  if (unit === "seconds") return "seconds";
  if (unit === "bytes") return "bytes";
  if (/^(?:ratio|share|fraction)/.test(unit)) return "ratio";
  return unit.endsWith("per second") ? "per second" : "none";
}

export function formatValue(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (unit === "seconds") return value < 0 ? `−${formatDuration(-value * 1000)}` : formatDuration(value * 1000);
  if (unit === "bytes") return formatBytes(value);
  if (unit === "ratio") return formatShare(value);
  return unit === "per second" ? `${formatCount(value)}/s` : formatCount(value);
}
