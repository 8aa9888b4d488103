/** One entry of the audit log: what was done, and when opened, what changed and the rest of it. */
import type { AuditEvent } from "../../api/audit-types.ts";

export function AuditEntry({ event }: { readonly event: AuditEvent }) {
  const { action, target } = event;
  const changes = changesOf(event);
  return (
    <details class="administration-entry">
      <summary>
        {action}{" "}
        <span class="foreign">{[target.kind, target.name ?? target.id].filter((part) => part !== null).join(" ")}</span>
      </summary>
      <dl>
        {changes.map(({ after, before, name }) => (
          <Member key={name} name={name} value={before === undefined ? after : `${before} → ${after ?? "–"}`} />
        ))}
        <Member name="Object" value={target.id} />
        <Member name="Actor" value={event.actor.id} />
        <Member name="User agent" value={event.user_agent} />
        <Member name="Details" value={textOf(event.details)} />
        <Member name="Entry" value={event.id} />
        <Member name="Hash" value={event.hash} />
      </dl>
    </details>
  );
}

function Member({ name, value }: { readonly name: string; readonly value: string | null | undefined }) {
  if (value === null || value === undefined || value === "{}") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd class="foreign">{value}</dd>
    </div>
  );
}

interface Change {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The members that differ; of a new object all that it has, of a deleted one those that it had. */
function changesOf({ after, before }: AuditEvent): readonly Change[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, before: memberOf(before, name), after: memberOf(after, name) }))
    .filter((change) => change.before !== change.after && change.name !== "object");
}

function memberOf(state: AuditEvent["before"], name: string): string | undefined {
  return state === null || !Object.hasOwn(state, name) ? undefined : textOf(state[name]);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
