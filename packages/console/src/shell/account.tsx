/** Who is signed in, at the end of the navigation. */
import { Icon } from "../design/icons.tsx";
import type { Session } from "../state/session.ts";

export function Account({ session }: { readonly session: Session }) {
  return (
    <div class="shell-account">
      <Icon name="key" />
      <div class="shell-account-names">
        <span class="clip">{session.organization}</span>
        <span class="clip small muted">{session.project ?? session.key_name}</span>
      </div>
    </div>
  );
}
