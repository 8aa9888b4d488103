/** Whether a key works, and for how long. */
import type { Key } from "../../api/key-types.ts";
import { formatAge, formatTime } from "../../design/format.ts";

const soonSeconds = 7 * 86_400;

export function KeyState({ item }: { readonly item: Key }) {
  const now = Date.now() / 1000;
  const { revoked_at, expires_at } = item;
  if (revoked_at !== null) return <span class="badge error">Revoked</span>;
  if (expires_at === null) return <span class="badge success">Active</span>;
  if (expires_at <= now) return <span class="badge error">Expired</span>;
  const soon = expires_at - now < soonSeconds;
  return (
    <span class={`badge ${soon ? "warning" : "success"}`}>until {formatTime(expires_at * 1000).slice(0, 16)}</span>
  );
}

export function Permissions({ item }: { readonly item: Key }) {
  return (
    <span class="row administration-permissions">
      {item.operator && <span class="badge warning">operator</span>}
      {item.person_id !== null && <span class="badge">personal</span>}
      {item.role !== null && <span class="badge">role {item.role}</span>}
      {item.permissions.map((permission) => (
        <span key={permission} class="badge">
          {permission}
        </span>
      ))}
    </span>
  );
}

export function lastUse({ last_used_at }: Key): string {
  return last_used_at === null ? "Never" : formatAge(last_used_at * 1000);
}
