/** Who is signed in, at the end of the navigation, with a menu to sign out. */
import { useSignal } from "@preact/signals";
import { formatTime } from "../design/format.ts";
import { Icon } from "../design/icons.tsx";
import { Menu } from "../design/menu.tsx";
import { Notice } from "../design/states.tsx";
import { href, navigate } from "../state/address.ts";
import { changeOrganization, signOut, type Session } from "../state/session.ts";

export function Account({ session }: { readonly session: Session }) {
  return (
    <div class="shell-account">
      <Icon name="key" />
      <div class="shell-account-names">
        <span class="clip">{session.organization}</span>
        <span class="clip small muted">{session.project ?? session.person?.name ?? session.key_name}</span>
      </div>
      <Menu button={<Icon name="more" />} label="Account" align="end" quiet>
        {() => <AccountMenu session={session} />}
      </Menu>
    </div>
  );
}

function AccountMenu({ session }: { readonly session: Session }) {
  const failure = useSignal<Error | undefined>(undefined);
  const leave = () => {
    signOut().then(
      // The next person may not be allowed to see this view.
      () => navigate(href(""), { replace: true }),
      (error: Error) => (failure.value = error),
    );
  };
  const change = (id: string) => {
    changeOrganization(id).then(
      () => location.assign(href("")),
      (error: Error) => (failure.value = error),
    );
  };
  const rows = [
    ["Organization", session.organization],
    ["Project", session.project ?? "all"],
    ["Person", session.person?.email ?? null],
    ["Role", session.role],
    ["Key", session.person === null ? session.key_name : null],
    ["Operator key", session.operator_key_name],
    ["Permissions", session.permissions.join(", ")],
    ["Signed in until", formatTime(session.expires_at * 1000)],
  ] as const;
  return (
    <div class="shell-account-menu">
      <dl>
        {rows.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt class="small muted">{name}</dt>
                <dd class="foreign">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {failure.value !== undefined && <Notice kind="error">{failure.value.message}</Notice>}
      {session.organizations
        .filter(({ id }) => id !== session.organization_id)
        .map(({ id, name }) => (
          <button key={id} type="button" class="menu-item" onClick={() => change(id)}>
            <Icon name="key" />
            Switch to <span class="foreign">{name}</span>
          </button>
        ))}
      {session.person === null && session.operator && (
        <a class="menu-item" href={href("preferences")}>
          <Icon name="preferences" />
          Create your account
        </a>
      )}
      <button type="button" class="menu-item" onClick={leave}>
        <Icon name="sign-out" />
        Sign out
      </button>
    </div>
  );
}
