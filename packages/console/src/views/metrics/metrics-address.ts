/** What the view shows, in the parameters of its address. */
import { computed } from "@preact/signals";
import { parameter, parameters, setParameters } from "../../state/address.ts";

export type ResultView = "line" | "stacked" | "heatmap" | "table";

const resultViews: readonly ResultView[] = ["line", "stacked", "heatmap", "table"];

/** Queries of one chart. */
export const maximumQueries = 8;

/** The queries that run, in order; undefined outside the explorer. */
export const queries = computed<readonly string[] | undefined>(() => {
  if (!parameters.value.has("query")) return undefined;
  return parameters.value.getAll("query").slice(0, maximumQueries);
});

const viewParameter = parameter("view");
const modeParameter = parameter("mode");
const stepParameter = parameter("step");
const exemplarsParameter = parameter("exemplars");

/** Whether the queries are evaluated once, at the end of the time range. */
export const isInstant = computed(() => modeParameter.value === "instant");

export const resultView = computed<ResultView>(() => {
  if (isInstant.value) return "table";
  return resultViews.find((view) => view === viewParameter.value) ?? "line";
});

/** The step that was asked for, as text; undefined: chosen from the width. */
export const givenStep = computed(() => {
  const text = stepParameter.value;
  return text !== undefined && parseStep(text) !== undefined ? text : undefined;
});

/** Whether exemplars fit to the kind of result. */
export const drawsExemplars = computed(() => resultView.value === "line" || resultView.value === "heatmap");

export const showsExemplars = computed(() => exemplarsParameter.value !== "0");

/** The series that the legend hides, by their keys. */
export const hiddenSeries = computed<ReadonlySet<string>>(() => new Set(parameters.value.getAll("hide")));

/** The project that everything is limited to. */
export const project = parameter("project");

/** Headers of requests to Prometheus' API. */
export function projectHeaders(): Readonly<Record<string, string>> {
  return project.value === undefined ? {} : { "x-project": project.value };
}

export function setQueries(next: readonly string[]): void {
  setParameters({ query: next.length === 0 ? [""] : next, hide: undefined });
}

/** Hides a series, or shows it again. */
export function toggleSeries(key: string): void {
  const hidden = new Set(hiddenSeries.value);
  if (!hidden.delete(key)) hidden.add(key);
  setParameters({ hide: [...hidden].slice(-maximumHidden) }, { replace: true });
}

/** An address stays short enough for every server and messenger. */
const maximumHidden = 30;

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `15s`, `2m` or a number of seconds; undefined for any other text. */
export function parseStep(text: string): number | undefined {
  const { count = "", unit = "s" } =
    /^(?<count>\d{1,9}(?:\.\d+)?)(?<unit>ms|s|m|h|d)?$/.exec(text.trim())?.groups ?? {};
  const ms = Number(count) * unitsMs[unit]!;
  return count !== "" && ms >= 1 ? ms : undefined;
}
