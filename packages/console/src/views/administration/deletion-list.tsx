/** The deletions of an organization's data, with their receipts. */
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatTime } from "../../design/format.ts";

const shown = 20;

/** @param version changes when the list has to be loaded again */
export function DeletionList({
  organizationId,
  version,
}: {
  readonly organizationId: string;
  readonly version: number;
}) {
  const query = useQuery(
    (signal) =>
      requestJson<{ readonly data: readonly Deletion[] }>(
        `admin/v1/deletions?order=desc&limit=${shown}&organization_id=${encodeURIComponent(organizationId)}`,
        { signal },
      ),
    [organizationId, version],
  );
  const deletions = query.data.value?.data ?? [];
  if (deletions.length === 0) return null;
  return (
    <>
      <div class="row">
        <h2>Deletions</h2>
        <button type="button" class="button" onClick={query.reload}>
          Refresh
        </button>
      </div>
      <table class="table">
        <thead>
          <tr>
            {["Requested", "What", "Rows", "Gone from queries", "Gone from the disk"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deletions.map((each) => (
            <tr key={each.id}>
              <td>{formatTime(each.created_at * 1000)}</td>
              <td class="foreign">{whatOf(each)}</td>
              <td>{rowsText(each.rows)}</td>
              <td>{each.hidden_at === null ? (each.error ?? each.status) : formatTime(each.hidden_at * 1000)}</td>
              <td>{each.erased_at === null ? (each.error ?? each.status) : formatTime(each.erased_at * 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function whatOf({ conversation_sha256, end, end_user_sha256, kind, project_name, start }: Deletion): string {
  const parts = [
    kind === "telemetry" ? undefined : kind,
    conversation_sha256 === null ? undefined : "one conversation",
    end_user_sha256 === null ? undefined : "one end user",
    project_name === null ? undefined : `project ${project_name}`,
    start === null && end === null ? undefined : "a time range",
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "all telemetry" : parts.join(", ");
}

export function rowsText({
  distribution_points: distributions = 0,
  logs = 0,
  points = 0,
  spans = 0,
}: Deletion["rows"]): string {
  const numbers = [spans, logs, points + distributions].map((count) => count.toLocaleString("en"));
  return `${numbers[0]} spans, ${numbers[1]} log records and ${numbers[2]} metric points`;
}
