/** Whether a model or a target answers, as a badge with the reason. */
import type { RoutedModel } from "../../api/admin-types.ts";
import { Icon } from "../../design/icons.tsx";
import type { ModelRow } from "./model-rows.ts";

const states = {
  ready: { title: "Ready", kind: "success" },
  not_loaded: { title: "Not loaded", kind: "" },
  unavailable: { title: "Unavailable", kind: "error" },
} as const satisfies Record<ModelRow["state"], { title: string; kind: string }>;

export function StateBadge({ model }: { readonly model: ModelRow }) {
  const targets = model.routed?.targets ?? [];
  const failing = targets.filter(({ circuit }) => circuit !== "closed").length;
  if (model.state === "ready" && failing > 0)
    return (
      <span class="badge warning">
        <Icon name="warning" size={12} />
        {`${failing} of ${targets.length} targets out of service`}
      </span>
    );
  const { title, kind } = states[model.state];
  return (
    <span class={`badge ${kind}`}>
      {model.state === "unavailable" && <Icon name="error" size={12} />}
      {title}
    </span>
  );
}

const circuits = {
  closed: { title: "In service", kind: "success" },
  open: { title: "Out of service", kind: "error" },
  half_open: { title: "Probing", kind: "warning" },
} as const;

type Target = RoutedModel["targets"][number];

/** @param nowMs for the time until the next probe */
export function CircuitBadge({ target, nowMs }: { readonly target: Target; readonly nowMs: number }) {
  const { title, kind } = circuits[target.circuit];
  const until = target.retry_at ?? target.paused_until;
  const seconds = until === null ? 0 : Math.ceil(until - nowMs / 1000);
  const hint =
    target.circuit === "open"
      ? seconds > 0
        ? `next try in ${seconds} s`
        : "the next call tries it"
      : seconds > 0
        ? `paused for ${seconds} s`
        : target.share < 1
          ? `at ${Math.round(target.share * 100)} % of its weight`
          : undefined;
  return (
    <span class="models-circuit">
      <span class={`badge ${kind}`}>{title}</span>
      {hint !== undefined && <span class="small muted">{hint}</span>}
    </span>
  );
}
