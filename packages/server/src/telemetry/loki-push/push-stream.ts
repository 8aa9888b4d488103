/** A log stream as Loki's push API sends it, whatever its encoding. https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";

export interface PushEntry {
  /** Nanoseconds since 1970, as decimal text. */
  readonly unixNano: string;
  readonly line: string;
  /** Structured metadata. */
  readonly metadata: readonly (readonly [name: string, value: string])[];
}

export interface PushStream {
  readonly labels: ReadonlyMap<string, string>;
  readonly entries: Iterable<PushEntry>;
}

const maximumLabels = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Labels of one stream that is pushed to the API of Loki",
  value: 128,
  error: "invalid_request",
});

const maximumLabelCharacters = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Value of a label of a stream that is pushed to the API of Loki",
  value: 2048,
  unit: "characters",
  error: "invalid_request",
});

/** Labels without the empty ones, which mean "no such label". @param at names the stream in messages */
export function checkedLabels(
  pairs: Iterable<readonly [name: string, value: string]>,
  at: string,
): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      throw refused(at, `the label name ${showValue(name)}; expected letters, digits and underscores`);
    }
    if (name.length + value.length > maximumLabelCharacters) {
      throw refused(
        at,
        `a label of ${name.length + value.length} characters; expected at most ${maximumLabelCharacters}`,
      );
    }
    if (value !== "") labels.set(name, value);
  }
  if (labels.size === 0) throw refused(at, "no labels; expected at least one with a value");
  if (labels.size > maximumLabels) throw refused(at, `${labels.size} labels; expected at most ${maximumLabels}`);
  return labels;
}

function refused(at: string, problem: string): AppError {
  return new AppError("invalid_request", `${at} has ${problem}.`, { param: at });
}
