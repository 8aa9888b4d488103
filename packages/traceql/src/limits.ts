/** What one TraceQL query may cost. */
import { inputLimit } from "@sounding/promql/input-limit";
import { defaultLimits, type QueryLimits } from "@sounding/promql/evaluate/budget";

export interface TraceqlLimits extends QueryLimits {
  /** Spans that a query reads. */
  readonly maxSpans: number;
}

export const defaultTraceqlLimits: TraceqlLimits = {
  ...defaultLimits,
  timeoutMs: inputLimit({ area: "TraceQL", bounds: "Time of a query", value: 60_000, unit: "ms", error: "timeout" }),
  maxSpans: inputLimit({
    area: "TraceQL",
    bounds: "Spans that a query reads",
    value: 100_000_000,
    error: "invalid_request",
  }),
};
