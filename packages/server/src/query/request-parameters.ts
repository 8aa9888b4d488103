/** The parameters of a request that may be in its query string and in a form. */
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

const maximumParameters = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Parameters of a form in the APIs of Prometheus and Loki",
  value: 1000,
  error: "invalid_request",
});

/** Parameters by name. A name with two different values is refused where one is expected. */
export class RequestParameters {
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

  /** Undefined if it is absent or empty. */
  text(name: string): string | undefined {
    const [value, ...others] = new Set(this.#values.getAll(name));
    if (others.length === 0) return value === "" ? undefined : value;
    throw invalidParameter(name, `is sent as ${showValue(value)} and as ${showValue(others[0])}; expected one value`);
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw invalidParameter(name, "is missing");
    return value;
  }

  /** The different values of a parameter that may be repeated. */
  all(name: string): ReadonlySet<string> {
    return new Set(this.#values.getAll(name));
  }
}

export function invalidParameter(name: string, problem: string): AppError {
  return new AppError("invalid_request", `invalid parameter "${name}": ${name} ${problem}.`, { param: name });
}

/** Whether the text is a number as Go reads one, without infinities and NaN. */
export function isDecimal(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
}
