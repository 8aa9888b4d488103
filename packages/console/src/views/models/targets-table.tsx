/** The targets of a model: where its calls go, and how each target did recently. */
import type { RoutedModel } from "../../api/admin-types.ts";
import { formatAge, formatCount, formatDuration, formatShare } from "../../design/format.ts";
import { CircuitBadge } from "./model-state.tsx";

type Target = RoutedModel["targets"][number];

export function TargetsTable({ targets }: { readonly targets: readonly Target[] }) {
  const nowMs = Date.now();
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <ul class="models-targets">
      {targets.map((target) => (
        <li key={`${target.engine} ${target.model}`} class="card models-target">
          <div class="row">
            <h3 class="foreign">
              {target.engine} <span class="muted">/</span> {target.model}
            </h3>
            <span class="spread">
              <CircuitBadge target={target} nowMs={nowMs} />
            </span>
          </div>
          <Facts target={target} share={weights === 0 ? 0 : target.weight / weights} />
          <Failures target={target} nowMs={nowMs} />
        </li>
      ))}
    </ul>
  );
}

function Facts({ target, share }: { readonly target: Target; readonly share: number }) {
  const { recent, weight, calls_in_flight, max_concurrent } = target;
  const errors = recent.errors.reduce((sum, { count }) => sum + count, 0);
  const latency = (value: number | undefined): string => (value === undefined ? "–" : formatDuration(value));
  const facts = [
    ["Weight", `${weight} (${formatShare(share)})`],
    ["In flight", max_concurrent === null ? formatCount(calls_in_flight) : `${calls_in_flight} of ${max_concurrent}`],
    ["Attempts", formatCount(recent.calls)],
    ["Errors", recent.calls === 0 ? "–" : `${formatCount(errors)} (${formatShare(errors / recent.calls)})`],
    ["Latency p50", latency(recent.latency_ms?.p50)],
    ["Latency p95", latency(recent.latency_ms?.p95)],
  ] as const;
  return (
    <dl class="models-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Failures({ target, nowMs }: { readonly target: Target; readonly nowMs: number }) {
  const { recent, last_error } = target;
  if (recent.errors.length === 0 && last_error === null) return null;
  return (
    <div class="models-failures">
      {recent.errors.length > 0 && (
        <p class="row">
          {recent.errors.map(({ code, count }) => (
            <span key={code} class="badge error">
              {formatCount(count)} × <code>{code}</code>
            </span>
          ))}
        </p>
      )}
      {last_error !== null && (
        <p class="small">
          <span class="muted">Last error, {formatAge(last_error.at * 1000, nowMs)}: </span>
          <span class="foreign">{last_error.message}</span>
        </p>
      )}
    </div>
  );
}
