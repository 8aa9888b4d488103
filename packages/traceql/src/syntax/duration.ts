/** Durations of TraceQL: Prometheus' (`1d12h`) and Go's (`1.5s`, `10us`), to the nanosecond. */
import { parseDuration as parsePrometheusDuration } from "@sounding/promql/syntax/duration";

const unitsNano = new Map([
  ["h", 3_600_000_000_000n],
  ["m", 60_000_000_000n],
  ["s", 1_000_000_000n],
  ["ms", 1_000_000n],
  ["us", 1000n],
  ["µs", 1000n],
  ["ns", 1n],
]);

const longestNano = 2n ** 63n - 1n;
const goDuration = /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/;
const goPart = /(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g;

/** The nanoseconds of a duration without sign; undefined if the text is none or it is longer than 292 years. */
export function parseDurationNano(text: string): bigint | undefined {
  const prometheus = parsePrometheusDuration(text);
  if ("ms" in prometheus) return BigInt(prometheus.ms) * 1_000_000n;
  if (!goDuration.test(text)) return undefined;
  let total = 0n;
  for (const [, whole, fraction = "", unit] of text.matchAll(goPart)) {
    const unitNano = unitsNano.get(unit!)!;
    total += BigInt(whole === "" ? 0 : whole!) * unitNano;
    // As Go does: nanoseconds that a fraction does not reach are cut off.
    if (fraction !== "") total += (BigInt(fraction) * unitNano) / 10n ** BigInt(fraction.length);
  }
  return total > longestNano ? undefined : total;
}

/** A duration as text that parses to the same nanoseconds. */
export function formatDurationNano(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDurationNano(-nanoseconds)}`;
  let rest = nanoseconds;
  let text = "";
  for (const [unit, unitNano] of unitsNano) {
    if (unit === "µs") continue;
    const count = rest / unitNano;
    if (count > 0n) text += `${count}${unit}`;
    rest -= count * unitNano;
  }
  return text === "" ? "0s" : text;
}
