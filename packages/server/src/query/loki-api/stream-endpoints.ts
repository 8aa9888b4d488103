/** Serves the endpoints of Loki's HTTP API that list streams and their labels. */
import { inputLimit } from "../../input-limits.ts";
import { compareLabels, entriesOf, type Labels } from "@sounding/promql/series/labels";
import { labelsJson, listOf } from "../metrics/prometheus-json.ts";
import { invalidParameter } from "../request-parameters.ts";
import { readSelector, streamsRequest, type LokiCall } from "./loki-call.ts";

const maximumSelectors = inputLimit({
  area: "LogQL",
  bounds: "Distinct stream selectors of a request for streams",
  value: 100,
  error: "invalid_request",
});

export async function serveLabels(call: LokiCall): Promise<unknown> {
  return success(await call.logs.labelNames(await selected(call)));
}

export async function serveLabelValues(call: LokiCall): Promise<unknown> {
  const name = call.path["name"]!;
  return success(await call.logs.labelValues({ ...(await selected(call)), name }));
}

export async function serveSeries(call: LokiCall): Promise<unknown> {
  const { logs, nowUnixNano, parameters } = call;
  const texts = new Set([...parameters.all("match"), ...parameters.all("match[]")]);
  if (texts.size > maximumSelectors) {
    throw invalidParameter("match[]", `is sent ${texts.size} times; the limit is ${maximumSelectors}`);
  }
  const selectors = await Promise.all([...texts].map((text) => readSelector("match[]", text, call)));
  const range = parameters.range(nowUnixNano);
  const found = new Map<string, Labels>();
  for (const matchers of selectors.length === 0 ? [[]] : selectors) {
    for (const { labels } of await logs.streams(streamsRequest(matchers, range, call))) found.set(labels.key, labels);
  }
  return success(listOf([...found.values()].sort(compareLabels), labelsJson));
}

export async function serveIndexStats(call: LokiCall): Promise<unknown> {
  const matchers = await readSelector("query", call.parameters.required("query"), call);
  const range = call.parameters.range(call.nowUnixNano);
  const { bytes, chunks, entries, streams } = await call.logs.statistics(streamsRequest(matchers, range, call));
  return { streams, chunks, entries, bytes };
}

/** Labels whose values are all IDs are left out, as in Loki: nobody groups by them. */
export async function serveDetectedLabels(call: LokiCall): Promise<unknown> {
  const values = new Map<string, Set<string>>();
  for (const { labels } of await call.logs.streams(await selected(call))) {
    for (const [name, value] of entriesOf(labels)) {
      const known = values.get(name) ?? new Set<string>();
      values.set(name, known.add(value));
    }
    if (call.budget.spend(streamCost)) await call.budget.yield();
  }
  const detected = [...values].filter(([name, each]) => alwaysShown.has(name) || !areIds(each));
  return { detectedLabels: detected.map(([label, each]) => ({ label, cardinality: each.size })) };
}

/** The cost of counting a stream's labels, in samples. */
const streamCost = 64;
const alwaysShown: ReadonlySet<string> = new Set(["cluster", "namespace", "instance", "pod"]);
const uuid = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i;

/** 0 and 1 alone are booleans. */
function areIds(values: ReadonlySet<string>): boolean {
  const all = [...values];
  if (all.every((value) => value === "0" || value === "1")) return false;
  return all.every((value) => uuid.test(value) || (value.trim() !== "" && !Number.isNaN(Number(value))));
}

/** The streams that the optional `query` selects. */
async function selected(call: LokiCall): Promise<ReturnType<typeof streamsRequest>> {
  const { nowUnixNano, parameters } = call;
  const text = parameters.text("query");
  const matchers = text === undefined ? [] : await readSelector("query", text, call);
  return streamsRequest(matchers, parameters.range(nowUnixNano), call);
}

function success(data: unknown): unknown {
  return { status: "success", data };
}
