/** Reads the parameters of Prometheus' HTTP API from the query string and the form. */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import type { YieldBudget } from "../../languages/regex/yield-budget.ts";
import type { LabelMatcher } from "../../languages/promql/syntax/ast.ts";
import { parseDuration } from "../../languages/promql/syntax/duration.ts";
import { parseQuery, QuerySize } from "../../languages/promql/syntax/parse-query.ts";

/** Parameters of one form. */
const maximumParameters = inputLimit({
  area: "PromQL",
  bounds: "Parameters of a form in Prometheus' HTTP API",
  value: 1000,
  error: "invalid_request",
});
/** Selectors in `match[]`; each one is evaluated as a separate query. */
const maximumSeriesSelectors = inputLimit({
  area: "PromQL",
  bounds: "Distinct `match[]` selectors of a request",
  value: 100,
  error: "invalid_request",
});

/** Parameters by name. A name with two different values is refused, except `match[]`. */
export class PrometheusParameters {
  readonly #values: URLSearchParams;

  constructor(query: URLSearchParams, form: string) {
    if (form.split("&", maximumParameters + 1).length > maximumParameters) {
      throw new AppError(
        "invalid_request",
        `The form has more than ${maximumParameters} parameters, which is the limit.`,
      );
    }
    this.#values = new URLSearchParams([...query, ...new URLSearchParams(form)]);
  }

  text(name: string): string | undefined {
    const [value, ...others] = new Set(this.#values.getAll(name));
    if (others.length === 0) return value === "" ? undefined : value;
    throw invalid(name, `is sent as ${showValue(value)} and as ${showValue(others[0])}; expected one value`);
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw invalid(name, "is missing");
    return value;
  }

  /** Unix milliseconds, from RFC 3339 or seconds. */
  timeMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = isDecimal(text) ? Math.round(Number(text) * 1000) : rfc3339(text);
    if (Number.isSafeInteger(ms)) return ms;
    throw invalid(name, `is ${showValue(text)}; expected a UNIX time in seconds or an RFC 3339 time`);
  }

  /** Milliseconds, from a duration or seconds. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const parsed = isDecimal(text) ? { ms: Math.round(Number(text) * 1000) } : parseDuration(text);
    if ("ms" in parsed && Number.isSafeInteger(parsed.ms)) return parsed.ms;
    throw invalid(name, `is ${showValue(text)}; expected a duration such as "30s" or seconds`);
  }

  /** Undefined for none. */
  limit(): number | undefined {
    const text = this.text("limit");
    if (text === undefined) return undefined;
    if (!/^\d{1,9}$/.test(text)) throw invalid("limit", `is ${showValue(text)}; expected an integer of at least 0`);
    return Number(text) === 0 ? undefined : Number(text);
  }

  /** The matchers of each different `match[]`. */
  async selectors(yieldBudget: YieldBudget): Promise<(readonly LabelMatcher[])[]> {
    const texts = new Set(this.#values.getAll("match[]"));
    if (texts.size > maximumSeriesSelectors) {
      throw invalid("match[]", `is sent ${texts.size} times; the limit is ${maximumSeriesSelectors}`);
    }
    const size = new QuerySize();
    const selectors: (readonly LabelMatcher[])[] = [];
    for (const text of texts) {
      const expression = await parseQuery(text, yieldBudget, size);
      const isSelector =
        expression.kind === "vector-selector" && expression.offset === null && expression.atTime === null;
      if (!isSelector) throw invalid("match[]", `is ${showValue(text)}; expected a series selector`);
      selectors.push(expression.matchers);
    }
    return selectors;
  }
}

function isDecimal(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
}

function rfc3339(text: string): number {
  return /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
}

function invalid(name: string, problem: string): AppError {
  return new AppError("invalid_request", `invalid parameter "${name}": ${name} ${problem}.`, { param: name });
}
