/** The results of the queries in the address, their exemplars, and the metadata of metrics. */
import { useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import { useQuery, type Query } from "../../api/use-query.ts";
import { moments } from "../../state/time-range.ts";
import {
  drawsExemplars,
  givenStep,
  isInstant,
  parseStep,
  project,
  queries,
  showsExemplars,
} from "./metrics-address.ts";
import {
  metadata as readMetadata,
  queryExemplars,
  queryInstant,
  queryRange,
  type ExemplarSeriesJson,
  type MetadataJson,
} from "./prometheus.ts";
import type { ResultOfQuery } from "./result-series.ts";
import { stepFor, stepProblem, stepTimes, type StepTimes } from "./step.ts";

export interface Results {
  readonly times: ReadonlySignal<StepTimes>;
  readonly results: Query<readonly ResultOfQuery[]>;
  readonly exemplars: Query<readonly ExemplarSeriesJson[]>;
  readonly metadata: Query<Readonly<Record<string, readonly MetadataJson[]>>>;
  /** Reports the width of the chart, which the step is chosen from. */
  readonly onWidth: (pixels: number) => void;
}

/** A window that is resized a little does not ask again. */
const widthSteps = 200;

export function useResults(): Results {
  const width = useSignal(Math.ceil(innerWidth / widthSteps) * widthSteps);
  const times = useComputed(() => {
    const range = moments.value;
    const stepMs = givenStep.value === undefined ? undefined : parseStep(givenStep.value);
    return stepTimes(range, stepMs ?? stepFor(range, width.value));
  });
  const results = useQuery((signal) => {
    const filled = filledQueries();
    const at = times.value;
    const endMs = moments.value.endMs;
    const instant = isInstant.value;
    void project.value;
    if (filled.length === 0) return undefined;
    return Promise.all(
      filled.map(async (query): Promise<ResultOfQuery> => {
        try {
          const problem = instant ? undefined : stepProblem(at);
          if (problem !== undefined) throw new Error(problem);
          return {
            query,
            answer: await (instant ? queryInstant(query, endMs, signal) : queryRange(query, at, signal)),
          };
        } catch (error) {
          signal.throwIfAborted();
          return { query, error: error as Error };
        }
      }),
    );
  });
  const exemplars = useQuery((signal) => {
    const range = moments.value;
    void project.value;
    if (!showsExemplars.value || !drawsExemplars.value || filledQueries().length === 0) return undefined;
    // They are an addition: a failed query is reported once, by its result.
    const found = filledQueries().map((query) => queryExemplars(query, range, signal).catch(() => []));
    return Promise.all(found).then((all) => all.flat());
  });
  const metadata = useQuery((signal) => {
    void project.value;
    return readMetadata(signal);
  });
  const onWidth = (pixels: number): void => {
    width.value = Math.max(widthSteps, Math.ceil(pixels / widthSteps) * widthSteps);
  };
  return { times, results, exemplars, metadata, onWidth };
}

function filledQueries(): readonly string[] {
  return (queries.value ?? []).filter((query) => query.trim() !== "");
}
