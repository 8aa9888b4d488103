/** Whose key is signed in, and what it may do. */
import { formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { href } from "../../state/address.ts";
import type { Permission, Session } from "../../state/session.ts";

const permissionTexts: Readonly<Record<Permission, string>> = {
  inference: "Call models",
  models_read: "List models and prices",
  telemetry_read: "Query logs, metrics and traces",
  content_read: "See recorded prompts and answers",
  telemetry_write: "Send logs, metrics and traces",
  spend_read: "See costs and budgets",
  configuration_read: "See projects, people, keys and alert rules",
  personal_keys: "Create keys of your own",
  admin: "Administer the organization",
  provision: "Manage people and groups by SCIM",
  owner: "Add and remove owners",
};

export function Identity({ session }: { readonly session: Session }) {
  const administers = session.permissions.includes("configuration_read");
  return (
    <>
      <dl class="preferences-facts">
        <div>
          <dt>Organization</dt>
          <dd class="foreign">{session.organization}</dd>
        </div>
        <div>
          <dt>Project</dt>
          <dd class="foreign">{session.project ?? "All of the organization"}</dd>
        </div>
        {session.person !== null && (
          <div>
            <dt>Person</dt>
            <dd class="foreign">
              {session.person.email}, {session.role}
            </dd>
          </div>
        )}
        {session.person === null && (
          <div>
            <dt>Key</dt>
            <dd>
              {administers ? (
                <a class="foreign" href={href(`administration/keys/${session.key_id}`)}>
                  {session.key_name}
                </a>
              ) : (
                <span class="foreign">{session.key_name}</span>
              )}
            </dd>
          </div>
        )}
        {session.operator_key_name !== null && (
          <div>
            <dt>Operator key</dt>
            <dd class="foreign">{session.operator_key_name}</dd>
          </div>
        )}
        <div>
          <dt>Until</dt>
          <dd>{formatTime(session.expires_at * 1000)}</dd>
        </div>
      </dl>
      <ul class="preferences-permissions" aria-label="Permissions">
        {(Object.keys(permissionTexts) as Permission[]).map((permission) => {
          const has = session.permissions.includes(permission);
          const text =
            permission === "admin" && session.operator ? "Administer all organizations" : permissionTexts[permission];
          return (
            <li key={permission} class={has ? "" : "muted"}>
              <Icon name={has ? "check" : "minus"} />
              <span>
                {text}
                <span class="visually-hidden">{has ? ": yes" : ": no"}</span>
              </span>
              <code class="small muted">{permission}</code>
            </li>
          );
        })}
      </ul>
    </>
  );
}
