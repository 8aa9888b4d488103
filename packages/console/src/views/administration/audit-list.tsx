/** The audit log, the newest entry first, with filters and, for operators, its verification. */
import type { AuditEvent } from "../../api/audit-types.ts";
import { formatTime } from "../../design/format.ts";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { parameter, setParameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { useNames, usePagedList } from "./admin-lists.ts";
import { AuditEntry } from "./audit-entry.tsx";
import { AuditVerificationButton } from "./audit-verification.tsx";
import { OrganizationFilter } from "./organization-link.tsx";

const organizationId = parameter("organization");
/** The filters that are texts, by their parameter of the address and of the API. */
const texts = [
  { name: "actor", label: "Actor", placeholder: "Key: name or ID", value: parameter("actor") },
  { name: "action", label: "Action", placeholder: "Action, such as updateKey", value: parameter("action") },
  { name: "target", label: "Object", placeholder: "Object: name, ID or kind", value: parameter("target") },
] as const;
const outcome = parameter("outcome");
const days = [
  { name: "from", label: "From", value: parameter("from") },
  { name: "to", label: "To", value: parameter("to") },
] as const;

export function AuditList() {
  const names = useNames().data.value;
  const [from, to] = days;
  const { query, more } = usePagedList<AuditEvent>("audit", {
    organization_id: organizationId.value,
    ...Object.fromEntries(texts.map(({ name, value }) => [name, value.value])),
    outcome: outcome.value,
    start: startOfDay(from.value.value, 0),
    end: startOfDay(to.value.value, 1),
  });
  const page = query.data.value;
  return (
    <>
      <AuditFilters names={names} />
      {query.error.value !== undefined ? (
        <ErrorState error={query.error.value} onRetry={query.reload} />
      ) : page === undefined ? (
        <Loading what="the audit log" />
      ) : page.data.length === 0 ? (
        <EmptyState title="No entry matches" icon="administration" />
      ) : (
        <>
          <AuditTable events={page.data} />
          {page.has_more && (
            <div class="row">
              <Notice>These are the newest {page.data.length} entries.</Notice>
              <button type="button" class="button" disabled={query.loading.value} onClick={more}>
                Show more
              </button>
            </div>
          )}
        </>
      )}
    </>
  );
}

function AuditFilters({ names }: { readonly names: Parameters<typeof OrganizationFilter>[0]["names"] }) {
  return (
    <div class="row">
      {texts.map(({ label, name, placeholder, value }) => (
        <input
          key={name}
          class="input"
          type="search"
          aria-label={label}
          placeholder={placeholder}
          value={value.value ?? ""}
          onChange={(event) => setParameters({ [name]: event.currentTarget.value || undefined }, { replace: true })}
        />
      ))}
      <select
        class="select"
        aria-label="Outcome"
        value={outcome.value ?? ""}
        onChange={(event) => setParameters({ outcome: event.currentTarget.value || undefined })}
      >
        <option value="">Every outcome</option>
        <option value="done">Done</option>
        <option value="refused">Refused</option>
        <option value="failed">Failed</option>
      </select>
      {days.map(({ label, name, value }) => (
        <label key={name} class="administration-check">
          {label}
          <input
            class="input"
            type="date"
            value={value.value ?? ""}
            onChange={(event) => setParameters({ [name]: event.currentTarget.value || undefined })}
          />
        </label>
      ))}
      <OrganizationFilter names={names} />
      {session.value?.operator === true && <AuditVerificationButton />}
    </div>
  );
}

/** Local midnight at the beginning of the day, or of the one after it, as the API takes it. */
function startOfDay(day: string | undefined, later: number): string | undefined {
  const { date, month, year } = /^(?<year>\d{4})-(?<month>\d\d)-(?<date>\d\d)$/.exec(day ?? "")?.groups ?? {};
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + later).toISOString();
}

function AuditTable({ events }: { readonly events: readonly AuditEvent[] }) {
  return (
    <div class="administration-frame">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Action</th>
            <th scope="col">Actor</th>
            <th scope="col" class="administration-wide">
              Address
            </th>
            <th scope="col">Outcome</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.id}>
              <th scope="row">
                <AuditEntry event={event} />
              </th>
              <td class="foreign">
                {[event.actor.kind, event.actor.name ?? event.actor.id].filter(Boolean).join(" ")}
              </td>
              <td class="administration-wide">{event.address}</td>
              <td>
                {event.outcome === "done" ? "done" : <strong>{event.code ?? event.outcome}</strong>}
                {event.count > 1 && ` ×${event.count}`}
              </td>
              <td class="administration-nowrap">{formatTime(event.created_at * 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
