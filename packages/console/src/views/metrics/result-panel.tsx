/** The result of the queries: a chart, a heat map or a table, with what is wrong or incomplete. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "../../api/request.ts";
import type { Query } from "../../api/use-query.ts";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { resultView } from "./metrics-address.ts";
import type { ExemplarSeriesJson, MetadataJson } from "./prometheus.ts";
import { ResultChart } from "./result-chart.tsx";
import { ResultTable } from "./result-table.tsx";
import { letterOf, toSeries, type ResultOfQuery } from "./result-series.ts";
import type { StepTimes } from "./step.ts";
import { unitOf } from "./units.ts";

/** Series of a chart, and rows of a table, that are shown at first. */
const firstSeries = { chart: 40, table: 200 } as const;
/** However many are asked for. */
const mostSeries = { chart: 200, table: 2000 } as const;

export function ResultPanel({
  results,
  times,
  exemplars,
  metadata,
  onWidth,
}: {
  readonly results: Query<readonly ResultOfQuery[]>;
  readonly times: StepTimes;
  readonly exemplars: readonly ExemplarSeriesJson[];
  readonly metadata: Readonly<Record<string, readonly MetadataJson[]>>;
  readonly onWidth: (pixels: number) => void;
}) {
  const panel = useRef<HTMLElement>(null);
  const showsMore = useSignal(false);
  useEffect(() => {
    const element = panel.current!;
    const observer = new ResizeObserver(() => onWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <section ref={panel} class="metrics-result" aria-label="Result" aria-busy={results.loading.value}>
      <Content results={results} times={times} exemplars={exemplars} metadata={metadata} showsMore={showsMore} />
    </section>
  );
}

function Content({
  results,
  times,
  exemplars,
  metadata,
  showsMore,
}: {
  readonly results: Query<readonly ResultOfQuery[]>;
  readonly times: StepTimes;
  readonly exemplars: readonly ExemplarSeriesJson[];
  readonly metadata: Readonly<Record<string, readonly MetadataJson[]>>;
  readonly showsMore: { value: boolean };
}) {
  const { data, error, loading } = results;
  if (error.value !== undefined) return <ErrorState error={error.value} onRetry={results.reload} />;
  if (data.value === undefined) {
    if (loading.value) return <Loading what="the result" onCancel={results.cancel} />;
    return (
      <EmptyState title="The query was cancelled" icon="stop">
        <button type="button" class="button" onClick={results.reload}>
          Run it again
        </button>
      </EmptyState>
    );
  }
  const failed = data.value.flatMap((each, index) => (each.error === undefined ? [] : [{ ...each, index }]));
  const answered = data.value.filter(({ answer }) => answer !== undefined);
  const [firstFailure] = failed;
  if (answered.length === 0 && firstFailure !== undefined) {
    const failure = firstFailure.error!;
    if (!(failure instanceof ApiError) || failure.status !== 400) {
      return <ErrorState error={failure} onRetry={results.reload} />;
    }
    return (
      <EmptyState title={failed.length === 1 ? "The query has an error" : "The queries have errors"} icon="error">
        <p>Correct what is marked above, then run it again.</p>
      </EmptyState>
    );
  }
  const all = toSeries(data.value);
  const isTable = resultView.value === "table";
  const kind = isTable ? "table" : "chart";
  const limit = showsMore.value ? mostSeries[kind] : firstSeries[kind];
  const units = new Set(answered.map(({ query }) => unitOf(query, metadata)));
  const unit = units.size === 1 ? [...units][0]! : "none";
  const notes = answered.flatMap(({ answer }) => [...(answer!.warnings ?? []), ...(answer!.infos ?? [])]);
  return (
    <>
      {failed.map(({ error: failure, index }) => (
        <Notice key={index} kind="error">
          Query {letterOf(index)}: <span class="foreign">{failure!.message}</span>
        </Notice>
      ))}
      {[...new Set(notes)].slice(0, 5).map((note) => (
        <Notice key={note} kind="warning">
          <span class="foreign">{note}</span>
        </Notice>
      ))}
      {all.length > limit && resultView.value !== "heatmap" && (
        <Notice>
          The first {limit} of {all.length} series are shown. Fewer say more: aggregate them, for example with{" "}
          <code>topk(10, …)</code>.{" "}
          {!showsMore.value && (
            <button type="button" class="button quiet" onClick={() => (showsMore.value = true)}>
              Show {Math.min(all.length, mostSeries[kind])}
            </button>
          )}
        </Notice>
      )}
      {all.length === 0 ? (
        <EmptyState title="No data in this time range" icon="metrics">
          <p>
            No series matches, or none has samples. Choose a longer time range, or check names and values: the editor
            completes those that exist.
          </p>
        </EmptyState>
      ) : isTable ? (
        <ResultTable series={all.slice(0, limit)} unit={unit} />
      ) : (
        <ResultChart all={all} series={all.slice(0, limit)} times={times} unit={unit} exemplars={exemplars} />
      )}
    </>
  );
}
