/** Series of a model over the selected time, by Prometheus' API. */
import { requestJson } from "../../api/request.ts";
import type { Moments } from "../../state/time-range.ts";

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
}

export interface SeriesSet {
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

interface Matrix {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

/** About how many points a chart has. */
const points = 60;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800];

export function stepSeconds({ startMs, endMs }: Moments): number {
  const wanted = (endMs - startMs) / 1000 / points;
  return steps.find((step) => step >= wanted) ?? steps.at(-1)!;
}

/** A matcher of the calls that name one of these IDs, of all projects or one. */
export function modelMatcher(ids: readonly string[], project?: string): string {
  const pattern = ids.map((id) => id.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  const ofProject = project === undefined ? "" : `,project_name=${JSON.stringify(project)}`;
  return `{model_key=~${JSON.stringify(pattern)}${ofProject}}`;
}

/** @param query PromQL, in which `STEP` stands for the step */
export async function querySeries(query: string, moments: Moments, signal: AbortSignal): Promise<SeriesSet> {
  const step = stepSeconds(moments);
  const start = Math.floor(moments.startMs / 1000 / step) * step;
  const end = Math.ceil(moments.endMs / 1000 / step) * step;
  const times = Array.from({ length: Math.round((end - start) / step) + 1 }, (_, index) => start + index * step);
  const { data } = await requestJson<Matrix>("prometheus/api/v1/query_range", {
    query: { query: query.replaceAll("STEP", `${step}s`), start, end, step },
    signal,
  });
  const series = data.result.map(({ metric, values }) => {
    const byTime = new Map(values.map(([time, value]) => [Math.round(time), Number(value)]));
    return {
      labels: metric,
      values: times.map((time) => {
        const value = byTime.get(time);
        return value === undefined || !Number.isFinite(value) ? null : value;
      }),
    };
  });
  // Each value is about the step that ends at its time; a chart shows it where the step begins.
  return { times: times.map((time) => (time - step) * 1000), series };
}
