/** The definition of a metric over spans: which spans count, with which value and labels. */
import { sql, type Statement } from "../../../store/statement.ts";
import type { SpanLabel } from "../../../store/span-labels.ts";

export interface SpanMetric {
  /** Without the suffixes of a histogram's parts. */
  readonly name: string;
  readonly type: "counter" | "histogram" | "gauge";
  readonly unit: string;
  readonly help: string;
  /** Where the number comes from, for the documentation. */
  readonly source: string;
  readonly labels: readonly SpanLabel[];
  /** Labels with many values, which series have only if the query names them. */
  readonly labelsWhenNamed: readonly SpanLabel[];
  /** Which spans count. */
  readonly condition: Statement;
  /** Whether it counts requests between services (service-edges.ts) instead of spans. */
  readonly countsEdges?: boolean;
  /** Whether it counts model calls, each of which several spans can report. */
  readonly countsCalls?: boolean;
  /** Labels that must not be empty. */
  readonly required?: readonly SpanLabel[];
  /** Splits each span into items, for an ARRAY JOIN; and which of them count. */
  readonly arrayJoin?: Statement;
  readonly itemCondition?: Statement;
  /** Whether any item of a span counts, without splitting it. */
  readonly hasItems?: Statement;
  /** The increment of a counter, the observation of a histogram or the value of a gauge. */
  readonly value: Statement;
  /** The metric in the sums of calls by minute; absent if they do not have it. */
  readonly sums?: SummedMetric;
  /** Which of a gauge's values counts if several spans of a series end at the same time. */
  readonly edge?: "min" | "max";
}

/** A metric over rows of `call_minutes`. */
interface SummedMetric {
  /** Splits each sum into items, where its columns differ from those of spans. */
  readonly arrayJoin?: Statement;
  /** Which sums count. */
  readonly condition: Statement;
  /** The sum of the values. */
  readonly value: Statement;
  /** Of a histogram: the number of observations, and the column of observations by bucket. */
  readonly count?: Statement;
  readonly buckets?: Statement;
}

export const one = sql`1.`;

/** Labels that tell the agent. */
export const agentLabels = ["project_name", "service_name", "agent_name", "agent_class"] as const;

/** Who called: labels that have too many values to be in every series. */
const callerLabels = ["session_id", "user_id", "key_id", "key_name"] as const;

/** A metric whose series say who called only if a query names the label, unless the definition says otherwise. */
export function spanMetric(definition: Partial<SpanMetric> & Omit<SpanMetric, "labelsWhenNamed">): SpanMetric {
  return { labelsWhenNamed: callerLabels, ...definition };
}
