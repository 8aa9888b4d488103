/** Defines what a chart shows and reports. */
import type uPlot from "uplot";
import type { Moments } from "../../state/time-range.ts";

export interface ChartSeries {
  readonly label: string;
  /** A custom property, such as `--series-1` or `--error`. */
  readonly color: string;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  readonly hidden?: boolean;
}

export interface ChartProps {
  /** UNIX times in milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly kind?: "line" | "bars" | "stacked-bars" | "stacked-area";
  readonly format: (value: number) => string;
  /** What the chart shows, for people who do not see it. */
  readonly label: string;
  readonly height?: number;
  /** The ends of the time axis; absent: those of the data. */
  readonly moments?: Moments | undefined;
  /** Called with the selection. */
  readonly onZoom?: ((moments: Moments) => void) | undefined;
  /** Called with the index of the time that was clicked. */
  readonly onPick?: ((index: number, seriesIndex: number | null) => void) | undefined;
  /** Lets a view draw on top, such as exemplars. */
  readonly onDraw?: ((plot: uPlot) => void) | undefined;
  /** Charts with the same key share their cursor. */
  readonly syncKey?: string;
  readonly compact?: boolean;
}
