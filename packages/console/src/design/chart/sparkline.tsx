/** The course of a number, as small as a line of text. Decorative: the number itself is next to it. */
import { chartColor } from "./chart-color.ts";

const width = 100;
const height = 24;

export function Sparkline({ values, color }: { readonly values: readonly (number | null)[]; readonly color: string }) {
  const highest = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const step = width / Math.max(1, values.length - 1);
  let pen = "M";
  const path = values.map((value, index) => {
    if (value === null) {
      pen = "M";
      return "";
    }
    const point = `${pen}${(index * step).toFixed(1)} ${(height - 1 - (value / highest) * (height - 2)).toFixed(1)}`;
    pen = "L";
    return point;
  });
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path.join("")} fill="none" style={{ stroke: chartColor(color) }} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
