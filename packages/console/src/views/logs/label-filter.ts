/** What a value in a log entry selects: which filter of a log query it becomes. */
import { levels, type Level } from "./log-entry.ts";

export type ValueFilter =
  | { readonly kind: "severity"; readonly value: Level }
  | { readonly kind: "service" | "project"; readonly value: string }
  | { readonly kind: "trace"; readonly name: "trace_id" | "span_id"; readonly value: string }
  | { readonly kind: "attribute"; readonly name: string; readonly value: string };

/** Resource attributes whose labels have underscores where their names have dots. */
const resourceAttributes = [
  "service.namespace",
  "service.instance.id",
  "service.version",
  "deployment.environment",
  "deployment.environment.name",
  "cloud.region",
  "cloud.availability_zone",
  "container.name",
  "host.name",
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
];

/** Undefined for labels that the server cannot filter by. */
export function labelFilter(name: string, value: string): ValueFilter | undefined {
  switch (name) {
    case "severity": {
      const level = levels.find((each) => each === value);
      return level && { kind: "severity", value: level };
    }
    case "service_name":
      return { kind: "service", value };
    case "project_name":
      return { kind: "project", value };
    case "trace_id":
    case "span_id":
      return { kind: "trace", name, value };
    default: {
      const attribute = resourceAttributes.find((each) => each.replaceAll(".", "_") === name);
      return attribute === undefined ? undefined : { kind: "attribute", name: attribute, value };
    }
  }
}
