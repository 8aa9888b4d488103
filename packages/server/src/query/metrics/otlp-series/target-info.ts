/** Provides `target_info`: one series for each process that sent metrics, with its resource attributes as labels. */
import { AppError } from "../../../errors.ts";
import { callerOrganization, sql } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { lookUpResources } from "../../resource-lookup.ts";
import type { KeyValue } from "../../attribute-values.ts";
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import type { StoredSeries } from "@sounding/promql/storage";
import { isMatchedBy } from "../label-matching.ts";
import { seenSinceCondition } from "./otlp-catalog.ts";
import { identityLabels } from "./otlp-labels.ts";
import type { OtlpQuery, OtlpRequest } from "./series-lookup.ts";
import { attributeLabels } from "./prometheus-names.ts";

export const targetInfoName = "target_info";

/** Small enough that an instant selector, which looks back five minutes, always finds a sample. */
const distanceMs = 120_000;
/** Ten years. */
const maximumTimes = 2_628_000;

/** The matching label sets. Only processes with a job or an instance have one. */
export async function targetInfoLabels(
  { charge, fromMs, matchers, maxSeries, signal, yieldBudget }: Omit<OtlpRequest, "names">,
  { project, reader }: OtlpQuery,
): Promise<Labels[]> {
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    seenSinceCondition(fromMs),
  ]);
  const rows = await reader.query<{ project: string; resource_id: string; scope_id: string }>(
    sql`SELECT DISTINCT project, resource_id, toUInt64(0) AS scope_id FROM series WHERE ${conditions}`,
    { signal, memory: { add: charge }, duplicates: "kept", maximumRows: maxSeries },
  );
  const { resources } = await lookUpResources(reader, rows, { signal, memory: { add: charge } });
  const found = new Map<string, Labels>();
  for (const row of rows) {
    const labels = toLabels(row.project, resources.get(row.resource_id)?.attributes ?? []);
    if (labels !== undefined && (await isMatchedBy(labels, matchers, yieldBudget))) found.set(labels.key, labels);
    if (yieldBudget.spend(workOfResource)) await yieldBudget.yield();
  }
  return [...found.values()];
}

/** The cost of building a resource's labels, in samples. */
const workOfResource = 256;

const identifying: ReadonlySet<string> = new Set(["service.name", "service.namespace", "service.instance.id"]);

function toLabels(project: string, attributes: readonly KeyValue[]): Labels | undefined {
  const identity = identityLabels(attributes);
  if (identity.every(([, value]) => value === "")) return undefined;
  const rest = attributeLabels(
    attributes
      .filter(({ key }) => !identifying.has(key))
      .map(({ key, value }): [string, string] => [
        key,
        String(value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue ?? ""),
      ]),
  );
  // What only identifies the process is in its other series, too; Prometheus makes none of it either.
  if (rest.size === 0) return undefined;
  return labelsFrom(new Map([...rest, ["project_name", project], ...identity, ["__name__", targetInfoName]]));
}

/** The label sets as series with the value 1 over the whole range. */
export async function selectTargetInfo(request: Omit<OtlpRequest, "names">, query: OtlpQuery): Promise<StoredSeries[]> {
  const count = Math.ceil((request.toMs - request.fromMs) / distanceMs) + 1;
  if (count > maximumTimes) {
    const problem = `${targetInfoName} is queried over more than ${(maximumTimes * distanceMs) / 86_400_000} days`;
    throw new AppError("invalid_request", `${problem}. Use a shorter time range.`, { param: "query" });
  }
  const timestampsMs = Float64Array.from(
    { length: count },
    (_, index) => request.toMs - (count - 1 - index) * distanceMs,
  );
  const times = timestampsMs.filter((time) => time >= request.fromMs);
  const values = new Float64Array(times.length).fill(1);
  return (await targetInfoLabels(request, query)).map((labels) => ({ labels, timestampsMs: times, values }));
}
