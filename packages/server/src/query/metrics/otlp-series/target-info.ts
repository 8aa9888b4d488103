/**
 * Provides `target_info`: one series for each resource that sent metrics, with its attributes as labels and a sample whenever it
 * sent points. The samples are stored as points (telemetry/otlp/target-info.ts).
 */
import { targetInfo } from "../../../store/metric-tables.ts";
import { isTargetInfo } from "../../../store/row-expressions.ts";
import { callerOrganization, sql } from "../../../store/statement.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import { lookUpResources } from "../../resource-lookup.ts";
import type { KeyValue } from "../../attribute-values.ts";
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import type { StoredSeries } from "@sounding/promql/storage";
import { isMatchedBy } from "../label-matching.ts";
import { seenSinceCondition, seenSinceDay } from "./otlp-catalog.ts";
import { identityLabels } from "./otlp-labels.ts";
import { pointLists } from "./otlp-points.ts";
import { readValues } from "./otlp-values.ts";
import { attributeLabels } from "./prometheus-names.ts";
import { remembered } from "./remembered-descriptions.ts";
import { matchingCost, type OtlpQuery, type OtlpRequest } from "./series-lookup.ts";
import { mergeSeries } from "./stored-series.ts";

export const targetInfoName = "target_info";

interface Target {
  readonly id: string;
  readonly labels: Labels;
}

type TargetInfoRequest = Omit<OtlpRequest, "names">;

/** The matching label sets, whether or not they have points in the range. Only processes with a job or an instance have one. */
export async function targetInfoLabels(request: TargetInfoRequest, query: OtlpQuery): Promise<Labels[]> {
  const found = new Map<string, Labels>();
  for (const { labels } of await findTargets(request, query)) found.set(labels.key, labels);
  return [...found.values()];
}

/** The series that have points in the range. @throws AppError as the store does */
export async function selectTargetInfo(request: TargetInfoRequest, query: OtlpQuery): Promise<StoredSeries[]> {
  const targets = await findTargets(request, query);
  const built: StoredSeries[] = [];
  for (const list of pointLists(targets.map(({ id }) => ({ id, metric: targetInfo.metric })))) {
    const found = await readValues(query.reader, { ...request, ...list });
    for (const { id, labels } of targets) {
      const columns = found.get(id);
      if (columns !== undefined) built.push({ labels, timestampsMs: columns.timestampsMs, values: columns.values });
      if (request.yieldBudget.spend(1)) await request.yieldBudget.yield();
    }
  }
  return mergeSeries(built);
}

async function findTargets(request: TargetInfoRequest, query: OtlpQuery): Promise<Target[]> {
  const { fromMs, matchers, yieldBudget } = request;
  const known = await remembered(query.reader, {
    key: JSON.stringify(["targets", query.project ?? null, seenSinceDay(fromMs)]),
    read: () => readTargets(request, query),
    bytesOf: (targets) => targets.reduce((sum, { labels }) => sum + 200 + 2 * labels.key.length, 0),
  });
  const found: Target[] = [];
  for (const target of known) {
    if (await isMatchedBy(target.labels, matchers, yieldBudget)) found.push(target);
    if (yieldBudget.spend(matchingCost)) await yieldBudget.yield();
  }
  return found;
}

async function readTargets(
  { charge, fromMs, maxSeries, signal, yieldBudget }: TargetInfoRequest,
  { project, reader }: OtlpQuery,
): Promise<Target[]> {
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    isTargetInfo,
    seenSinceCondition(fromMs),
  ]);
  const rows = await reader.query<{ id: string; project: string; resource_id: string; scope_id: string }>(
    sql`SELECT DISTINCT series_id AS id, project, resource_id, toUInt64(0) AS scope_id FROM series WHERE ${conditions}`,
    { signal, memory: { add: charge }, duplicates: "kept", maximumRows: maxSeries },
  );
  const { resources } = await lookUpResources(reader, rows, { signal, memory: { add: charge } });
  const targets: Target[] = [];
  for (const row of rows) {
    const labels = toLabels(row.project, resources.get(row.resource_id)?.attributes ?? []);
    if (labels !== undefined) targets.push({ id: row.id, labels });
    if (yieldBudget.spend(workOfResource)) await yieldBudget.yield();
  }
  return targets;
}

/** The cost of building a resource's labels, in samples. */
const workOfResource = 256;

/** What identifies the process, and the project: all its series have labels of it. */
const identifying: ReadonlySet<string> = new Set([
  "service.name",
  "service.namespace",
  "service.instance.id",
  "project.name",
  "project_name",
]);

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
