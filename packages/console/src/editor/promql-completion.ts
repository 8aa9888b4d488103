/** Names, labels and values that the completion of PromQL offers: those of the selected time range, remembered for a minute. */
import type { PrometheusClient } from "@prometheus-io/codemirror-promql";
import { EqlRegex, Neq, NeqRegex } from "@prometheus-io/lezer-promql";
import { requestJson } from "../api/request.ts";
import type { LanguageContext } from "./editor-language.ts";

const rememberedMs = 60_000;
/** More are no help to anybody, and slow the list down. */
const maximumValues = 5_000;

type Matcher = NonNullable<Parameters<PrometheusClient["labelValues"]>[2]>[number];

interface Remembered {
  readonly untilMs: number;
  readonly answer: Promise<unknown>;
}

export interface CompletionClient extends PrometheusClient {
  destroy(): void;
}

export function createCompletionClient({ headers, moments }: LanguageContext): CompletionClient {
  const controller = new AbortController();
  const remembered = new Map<string, Remembered>();
  const ask = <Value>(path: string, parameters: Readonly<Record<string, string>>, nothing: Value): Promise<Value> => {
    const selected = headers();
    const key = JSON.stringify([path, parameters, selected]);
    const known = remembered.get(key);
    if (known !== undefined && known.untilMs > Date.now()) return known.answer as Promise<Value>;
    const { startMs, endMs } = moments();
    const times = path === "metadata" ? {} : { start: startMs / 1000, end: endMs / 1000, limit: maximumValues };
    const answer = requestJson<{ data: Value }>(`prometheus/api/v1/${path}`, {
      query: { ...parameters, ...times },
      headers: selected,
      signal: controller.signal,
    }).then(
      ({ data }) => data,
      () => {
        // Completion is a convenience: the query itself reports what is wrong.
        remembered.delete(key);
        return nothing;
      },
    );
    remembered.set(key, { untilMs: Date.now() + rememberedMs, answer });
    return answer;
  };
  const labelValues: CompletionClient["labelValues"] = (label, metric, matchers) =>
    ask<string[]>(`label/${encodeURIComponent(label)}/values`, selectorOf(metric, matchers, label), []);
  return {
    labelValues,
    labelNames: (metric) => ask<string[]>("labels", selectorOf(metric), []),
    metricNames: () => labelValues("__name__"),
    metricMetadata: () => ask<Awaited<ReturnType<PrometheusClient["metricMetadata"]>>>("metadata", {}, {}),
    series: () => Promise.resolve([]),
    flags: () => Promise.resolve({}),
    destroy: () => controller.abort(),
  };
}

/** Other matchers narrow the values down; the one that is being written does not. */
function selectorOf(metric = "", matchers: readonly Matcher[] = [], label = ""): Record<string, string> {
  const others = matchers.filter(({ name, value }) => name !== label && value !== "");
  // The value is as in the query, so what has to be escaped is.
  const texts = others.map(({ name, type, value }) => `${name}${operators.get(type) ?? "="}"${value}"`);
  if (metric === "" && texts.length === 0) return {};
  return { "match[]": `${metric}{${texts.join(",")}}` };
}

/** By the grammar's types of nodes. */
const operators: ReadonlyMap<number, string> = new Map([
  [Neq, "!="],
  [EqlRegex, "=~"],
  [NeqRegex, "!~"],
]);
