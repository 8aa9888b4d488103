/** Log queries: entries in the direction of the query, grouped into streams, until the limit is reached. */
import { workOfLabels } from "@sounding/promql/evaluate/budget";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import { compareLabels, type Labels } from "@sounding/promql/series/labels";
import { compilePipeline, type PipelineOutput } from "../pipeline/pipeline.ts";
import type { LogEntry, LogStream } from "../query-result.ts";
import type { LogQuery } from "../syntax/ast.ts";
import { conditionsOf } from "./entry-needs.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { readEntries } from "./read-entries.ts";

export interface LogQueryOptions {
  /** Nanoseconds since 1970: from included, to excluded. */
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly direction: "forward" | "backward";
  /** How many entries the result has at most. */
  readonly limit: number;
  /** The shortest time between two entries of the result; 0: any. */
  readonly intervalNano: bigint;
  /** Streams have only the labels of the store; those of the entries are listed with each entry. */
  readonly categorizesLabels: boolean;
}

/** What an entry of the result takes in memory besides its text. */
const bytesOfEntry = 300;
const bytesPerCharacter = 2;

/** The streams of the result, sorted by labels. */
export async function evaluateLogQuery(
  query: LogQuery,
  options: LogQueryOptions,
  context: EvaluationContext,
): Promise<readonly LogStream[]> {
  const { direction, endUnixNano, intervalNano, limit, startUnixNano } = options;
  const { budget } = context;
  const pipeline = compilePipeline(query.stages, { unwrap: null });
  const { areComplete, lineFilters, metadataMatchers } = conditionsOf(query.stages);
  const streams = new Map<string, { readonly labels: Labels; readonly entries: LogEntry[] }>();
  if (limit === 0 || endUnixNano <= startUnixNano) return [];
  let found = 0;
  let last: bigint | undefined;
  const isFarEnough = (unixNano: bigint): boolean =>
    last === undefined || (unixNano > last ? unixNano - last : last - unixNano) >= intervalNano;
  await readEntries(
    {
      request: {
        matchers: query.matchers,
        lineFilters,
        metadataMatchers,
        fromUnixNano: startUnixNano,
        toUnixNano: endUnixNano,
        direction,
        // The other stages may remove any number of entries.
        expectedEntries: areComplete && intervalNano === 0n ? limit : undefined,
        needs: { line: true, structuredMetadata: "all" },
      },
      pipeline,
      visit: (output, { unixNano }) => {
        if (!isFarEnough(unixNano)) return false;
        last = unixNano;
        const labels = options.categorizesLabels ? output.stream : output.labels;
        budget.holdBytes(bytesOfEntry + bytesPerCharacter * (output.line.length + output.labels.key.length));
        let stream = streams.get(labels.key);
        if (stream === undefined) streams.set(labels.key, (stream = { labels, entries: [] }));
        stream.entries.push(toEntry(output, unixNano));
        return ++found === limit;
      },
    },
    context,
  );
  if (budget.spend(workOfLabels * streams.size)) await budget.yield();
  return sortInSlices([...streams.values()], (left, right) => compareLabels(left.labels, right.labels), budget);
}

function toEntry({ line, parsed, structuredMetadata }: PipelineOutput, unixNano: bigint): LogEntry {
  return { unixNano, line, structuredMetadata, parsed };
}
