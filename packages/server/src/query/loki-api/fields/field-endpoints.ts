/** Serves the fields of log entries, and their values, from a sample of the newest entries. */
import { queryLogqlRange } from "@sounding/logql/engine";
import type { LogStream } from "@sounding/logql/query-result";
import { compareText } from "@sounding/promql/series/labels";
import { readLogQuery, type LokiCall } from "../loki-call.ts";
import { detectFields } from "./detect-fields.ts";

const defaultEntries = 1000;
const defaultLimit = 1000;
/** Fields of which one is looked for. */
const mostFields = 10_000;

export async function serveDetectedFields(call: LokiCall): Promise<unknown> {
  const limit = limitOf(call);
  const found = [...(await detectFields(await sample(call), { budget: call.budget, limit })).values()];
  const fields = found
    .sort((left, right) => compareText(left.label, right.label))
    .map(({ jsonPath, label, parsers, type, values }) => ({
      label,
      type,
      cardinality: values.size,
      parsers: parsers.length === 0 ? null : parsers,
      ...(jsonPath === undefined || jsonPath.length === 0 ? {} : { jsonPath }),
    }));
  return { fields, limit };
}

export async function serveDetectedFieldValues(call: LokiCall): Promise<unknown> {
  const limit = limitOf(call);
  const fields = await detectFields(await sample(call), { budget: call.budget, limit: mostFields });
  const field = fields.get(call.path["name"]!);
  const values = [...(field?.values ?? [])].slice(0, limit);
  // Without spaces a size can be inserted into a query.
  return { values: field?.type === "bytes" ? values.map((value) => value.replaceAll(" ", "")) : values, limit };
}

/** `field_limit` is the older name. */
function limitOf({ parameters }: LokiCall): number {
  return parameters.count("limit", parameters.count("field_limit", defaultLimit));
}

async function sample(call: LokiCall): Promise<readonly LogStream[]> {
  const { logs, memory, nowUnixNano, parameters, signal, yielder } = call;
  const query = await readLogQuery(call);
  const { fromUnixNano, toUnixNano } = parameters.range(nowUnixNano);
  const { value } = await queryLogqlRange(logs, {
    query,
    startUnixNano: fromUnixNano,
    endUnixNano: toUnixNano,
    stepMs: 1000,
    direction: "backward",
    limit: parameters.count("line_limit", defaultEntries),
    categorizesLabels: true,
    signal,
    memory,
    yielder,
  });
  return value.type === "streams" ? value.streams : [];
}
