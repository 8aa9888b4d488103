/** The calls of each model or project in a table; each row leads to its traces. */
import { formatCost, formatCount, formatDuration, formatShare } from "../../design/format.ts";
import { href, parameters } from "../../state/address.ts";
import type { CallGroup } from "./calls-summary.ts";

const shownGroups = 50;

export function CallGroups({
  title,
  kind,
  groups,
}: {
  readonly title: string;
  readonly kind: "model_key" | "project_name";
  readonly groups: readonly CallGroup[];
}) {
  const duration = (ms: number | undefined) => (ms === undefined ? "–" : formatDuration(ms));
  const hasCost = groups.some(({ cost }) => cost !== undefined);
  return (
    <section class="card stack">
      <h2>{title}</h2>
      <div class="overview-table" tabIndex={0} role="region" aria-label={title}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{kind === "model_key" ? "Model" : "Project"}</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                Errors
              </th>
              <th scope="col" class="number">
                p50
              </th>
              <th scope="col" class="number">
                p95
              </th>
              <th scope="col" class="number">
                First token
              </th>
              <th scope="col" class="number">
                Tokens in
              </th>
              <th scope="col" class="number">
                Tokens out
              </th>
              {hasCost && (
                <th scope="col" class="number">
                  Cost
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, shownGroups).map((group) => (
              <tr key={group.name}>
                <td>
                  <a class="foreign" href={tracesOf(kind, group.name)}>
                    {group.name === "" ? "(none)" : group.name}
                  </a>
                </td>
                <td class="number">{formatCount(group.calls)}</td>
                <td class="number">
                  {group.errors === 0 ? (
                    <span class="muted">0</span>
                  ) : (
                    <span class="badge error">{formatShare(group.errors / group.calls)}</span>
                  )}
                </td>
                <td class="number">{duration(group.p50Ms)}</td>
                <td class="number">{duration(group.p95Ms)}</td>
                <td class="number">{duration(group.firstTokenP50Ms)}</td>
                <td class="number">{formatCount(group.inputTokens)}</td>
                <td class="number">{formatCount(group.outputTokens)}</td>
                {hasCost && <td class="number">{formatCost(group.cost)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {groups.length > shownGroups && (
        <p class="small muted">
          The {shownGroups} with the most calls, of {formatCount(groups.length)}.
        </p>
      )}
    </section>
  );
}

/** The traces behind a row, in the same time range. */
function tracesOf(kind: "model_key" | "project_name", name: string): string {
  const kept = Object.fromEntries(
    ["from", "to", "project"].map((each) => [each, parameters.value.get(each) ?? undefined]),
  );
  return href("traces", { ...kept, ...(kind === "model_key" ? { model: name } : { project: name }) });
}
