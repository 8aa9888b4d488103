/**
 * Builds the stream labels of log entries as Loki's OTLP endpoint does: the service, the level and some attributes of the
 * resource. Streams from Loki's push API keep the labels they were pushed with. docs/adr/0024-logql-traceql-and-searches.md
 */
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import { pushedStreamSchema } from "../../../store/schema.ts";
import { unknownService } from "../../attribute-condition.ts";
import { scalarText } from "../../attribute-values.ts";
import type { Resource } from "../../resource-lookup.ts";
import { levelWords } from "./stream-level.ts";

/** The columns that determine the stream of an entry. */
export interface StreamColumns {
  readonly project: string;
  readonly service: string;
  /** An index into `levelWords`. */
  readonly level: number;
  readonly resource_id: string;
}

/**
 * The resource attributes that Loki turns into stream labels unless it is configured otherwise, by label. `service.name` has a
 * column of its own.
 */
export const resourceLabels: ReadonlyMap<string, string> = new Map(
  [
    "service.namespace",
    "service.instance.id",
    "deployment.environment",
    "deployment.environment.name",
    "cloud.region",
    "cloud.availability_zone",
    "container.name",
    "k8s.cluster.name",
    "k8s.container.name",
    "k8s.cronjob.name",
    "k8s.daemonset.name",
    "k8s.deployment.name",
    "k8s.job.name",
    "k8s.namespace.name",
    "k8s.pod.name",
    "k8s.replicaset.name",
    "k8s.statefulset.name",
  ].map((attribute) => [attribute.replaceAll(".", "_"), attribute]),
);

/** Labels of every entry. No structured metadata has their names, so that a condition on one of them concerns the stream. */
export const ownLabels: ReadonlySet<string> = new Set(["service_name", "project_name", "level", "detected_level"]);

/** The label of each of these attributes. */
export const labelsByAttribute: ReadonlyMap<string, string> = new Map(
  [...resourceLabels].map(([label, attribute]) => [attribute, label]),
);

/** Whether the resource stands for a stream from Loki's push API: its attributes are the stream's labels. */
export function isPushedStream(resource: Resource | undefined): boolean {
  return resource?.schemaUrl === pushedStreamSchema;
}

/** What the columns of the service and the project are read from. */
const columnAttributes: ReadonlySet<string> = new Set(["service.name", "project.name", "project_name"]);

/** Whether a resource attribute is part of the stream's labels, and therefore no structured metadata. */
export function isStreamAttribute(attribute: string): boolean {
  return columnAttributes.has(attribute) || labelsByAttribute.has(attribute);
}

/** The stream label that a resource attribute becomes. */
export function labelOfAttribute(attribute: string, isPushed: boolean): string | undefined {
  // "service.name" is no label of the stream; it is where its service is looked up.
  return isPushed && attribute !== "service.name" ? attribute : labelsByAttribute.get(attribute);
}

/** Project, service and detected level come from their columns: pushed labels cannot replace them. */
export function streamLabels({ level, project, service }: StreamColumns, resource: Resource | undefined): Labels {
  const word = levelWords[level] ?? levelWords[0];
  const labels = new Map<string, string>([["level", word]]);
  const isPushed = isPushedStream(resource);
  for (const { key, value } of resource?.attributes ?? []) {
    const name = labelOfAttribute(key, isPushed);
    if (name !== undefined) labels.set(name, scalarText(value) ?? "");
  }
  labels.set("detected_level", word);
  labels.set("service_name", service === "" ? unknownService : service);
  labels.set("project_name", project);
  return labelsFrom(labels);
}
