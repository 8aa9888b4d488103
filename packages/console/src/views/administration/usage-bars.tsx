/** The limits of a key or an organization next to what is used of them now. */
import type { Usage } from "../../api/admin-types.ts";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatCount, formatShare, formatTime } from "../../design/format.ts";
import { ErrorState, Loading } from "../../design/states.tsx";
import { useEvery } from "../../state/use-every.ts";
import { limitTitles } from "./limit-fields.tsx";

type Row = Usage["data"][number];

const refreshMs = 5_000;
const workTitles = {
  inference: "Calls of models",
  queries: "Telemetry queries",
  exports: "Telemetry exports",
} as const;

/** @param path such as `keys/key_…` */
export function UsageBars({ path }: { readonly path: string }) {
  const query = useQuery((signal) => requestJson<Usage>(`admin/v1/${path}/usage`, { signal }), [path]);
  useEvery(refreshMs, query.reload);
  const usage = query.data.value;
  if (usage === undefined) {
    if (query.error.value === undefined) return <Loading what="the usage" />;
    return <ErrorState error={query.error.value} onRetry={query.reload} />;
  }
  const groups = Object.entries(workTitles).map(([work, title]) => ({
    title,
    rows: usage.data.filter(({ applies_to }) => applies_to === work),
  }));
  return (
    <div class="administration-usage">
      {groups.map(({ title, rows }) => (
        <section key={title} class="card stack" aria-label={title}>
          <h3>{title}</h3>
          <ul class="administration-bars">
            {rows.map((row) => (
              <UsageBar key={row.limit} row={row} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function UsageBar({ row: { limit, value, used, resets_at } }: { readonly row: Row }) {
  const title = limitTitles[limit];
  const share = value === null || used === null ? 0 : Math.min(1, used / value);
  return (
    <li>
      <div class="row">
        <span>{title}</span>
        <span class="spread">
          {value === null ? (
            <span class="muted">{used === null ? "No limit" : `${formatCount(used)}, no limit`}</span>
          ) : (
            `${used === null ? "–" : formatCount(used)} of ${formatCount(value)}`
          )}
        </span>
      </div>
      {value !== null && (
        <>
          <div
            class={`administration-bar ${share >= 1 ? "full" : share >= 0.8 ? "high" : ""}`}
            role="meter"
            aria-label={title}
            aria-valuemin={0}
            aria-valuemax={value}
            aria-valuenow={Math.min(value, used ?? 0)}
            aria-valuetext={`${formatShare(share)} used`}
          >
            <span style={{ width: `${share * 100}%` }} />
          </div>
          {resets_at !== null && (
            <span class="small muted">
              {formatShare(share)} used, resets at {formatTime(resets_at * 1000).slice(0, 16)}
            </span>
          )}
        </>
      )}
    </li>
  );
}
