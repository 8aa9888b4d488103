/** Reads the parameters of Prometheus' HTTP API from the query string and the form. */
import { showValue } from "../../api/validate.ts";
import { inputLimit } from "../../input-limits.ts";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { parseDuration } from "@sounding/promql/syntax/duration";
import { parseQuery, QuerySize } from "@sounding/promql/syntax/parse-query";
import { invalidParameter, isDecimal, RequestParameters } from "../request-parameters.ts";

/** Selectors in `match[]`; each one is evaluated as a separate query. */
const maximumSeriesSelectors = inputLimit({
  area: "PromQL",
  bounds: "Distinct `match[]` selectors of a request",
  value: 100,
  error: "invalid_request",
});

export class PrometheusParameters extends RequestParameters {
  /** Unix milliseconds, from RFC 3339 or seconds. */
  timeMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = isDecimal(text) ? Math.round(Number(text) * 1000) : rfc3339(text);
    if (Number.isSafeInteger(ms)) return ms;
    throw invalidParameter(name, `is ${showValue(text)}; expected a UNIX time in seconds or an RFC 3339 time`);
  }

  /** Milliseconds, from a duration or seconds. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const parsed = isDecimal(text) ? { ms: Math.round(Number(text) * 1000) } : parseDuration(text);
    if ("ms" in parsed && Number.isSafeInteger(parsed.ms)) return parsed.ms;
    throw invalidParameter(name, `is ${showValue(text)}; expected a duration such as "30s" or seconds`);
  }

  /** Undefined for none. */
  limit(): number | undefined {
    const text = this.text("limit");
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text))
      throw invalidParameter("limit", `is ${showValue(text)}; expected an integer of at least 0`);
    return Number(text) === 0 ? undefined : Number(text);
  }

  /** The matchers of each different `match[]`. */
  async selectors(yieldBudget: YieldBudget): Promise<(readonly LabelMatcher[])[]> {
    const texts = this.all("match[]");
    if (texts.size > maximumSeriesSelectors) {
      throw invalidParameter("match[]", `is sent ${texts.size} times; the limit is ${maximumSeriesSelectors}`);
    }
    const size = new QuerySize();
    const selectors: (readonly LabelMatcher[])[] = [];
    for (const text of texts) {
      const expression = await parseQuery(text, yieldBudget, size);
      const isSelector =
        expression.kind === "vector-selector" && expression.offset === null && expression.atTime === null;
      if (!isSelector) throw invalidParameter("match[]", `is ${showValue(text)}; expected a series selector`);
      selectors.push(expression.matchers);
    }
    return selectors;
  }
}

function rfc3339(text: string): number {
  return /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
}
