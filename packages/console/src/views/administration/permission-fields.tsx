/** What a key may do, as checkboxes. */
import type { Signal } from "@preact/signals";
import { session, type Permission } from "../../state/session.ts";

/** What a key can have. The first ones include those that are finer. */
const permissionTexts: Readonly<Partial<Record<Permission, string>>> = {
  inference: "Call models: chat completions, speech, transcription",
  telemetry_write: "Send logs, metrics and traces",
  telemetry_read: "Query logs, metrics and traces, with recorded content",
  admin: "Administer the organization: its projects, people and keys",
  models_read: "List models, voices and prices",
  spend_read: "See spend, costs and budgets",
  configuration_read: "See projects, people, keys and alert rules",
};
export const permissionNames = Object.keys(permissionTexts) as Permission[];

export function PermissionFields({
  permissions,
  operator,
  offered = permissionNames,
}: {
  readonly permissions: Signal<readonly Permission[]>;
  /** Absent: the key cannot be an operator's. */
  readonly operator?: Signal<boolean>;
  readonly offered?: readonly Permission[];
}) {
  const chosen = permissions.value;
  const toggle = (permission: Permission, on: boolean) => {
    permissions.value = offered.filter((each) => (each === permission ? on : chosen.includes(each)));
  };
  return (
    <fieldset class="administration-choices">
      <legend>Permissions</legend>
      {offered.map((permission) => (
        <label key={permission} class="administration-check">
          <input
            type="checkbox"
            checked={chosen.includes(permission)}
            onChange={(event) => toggle(permission, event.currentTarget.checked)}
          />
          <span>
            <code>{permission}</code> <span class="small muted">{permissionTexts[permission]}</span>
          </span>
        </label>
      ))}
      {operator !== undefined && session.value?.operator === true && chosen.includes("admin") && (
        <label class="administration-check">
          <input
            type="checkbox"
            checked={operator.value}
            onChange={(event) => (operator.value = event.currentTarget.checked)}
          />
          <span>
            Operator key <span class="small muted">Administers every organization</span>
          </span>
        </label>
      )}
      {chosen.length === 0 && (
        <p class="small administration-problem" role="alert">
          A key needs at least one permission.
        </p>
      )}
    </fieldset>
  );
}
