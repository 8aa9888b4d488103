/** How people sign in: the identity providers of the server, as links, and the form of accounts. */
import { apiUrl, requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { LoadedView } from "../../shell/loaded-view.tsx";
import { path } from "../../state/address.ts";

interface Provider {
  readonly name: string;
  readonly label: string;
  readonly available: boolean;
  readonly path: string;
}

interface Providers {
  readonly data: readonly Provider[];
  /** Whether somebody has an account with a password. */
  readonly accounts: boolean;
  readonly passkeys: boolean;
}

const loadAccountForm = async () => (await import("./account-form.tsx")).AccountForm;

export function WaysForPeople() {
  const { data } = useQuery((signal) => requestJson<Providers>("authentication/providers", { signal }));
  if (data.value === undefined) return null;
  const { accounts, data: providers, passkeys } = data.value;
  return (
    <>
      {providers.length > 0 && <ProviderList providers={providers} />}
      {accounts && (
        <div class="sign-in-account">
          <LoadedView title="the form" load={loadAccountForm} props={{ passkeys }} />
        </div>
      )}
    </>
  );
}

function ProviderList({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <ul class="sign-in-providers stack" aria-label="Identity providers">
      {providers.map(({ available, label, name, path: start }) => (
        <li key={name} class="stack">
          <a class="button primary" href={apiUrl(start, { return_to: afterwards() })}>
            Sign in with <span class="foreign">{label}</span>
          </a>
          {!available && <span class="problem">It is unavailable at the moment. You can try it anyway.</span>}
        </li>
      ))}
    </ul>
  );
}

/** The view that was asked for. */
function afterwards(): string | undefined {
  const view = `${path.value}${location.search}`;
  return view === "" || path.value.startsWith("sign-in") ? undefined : view;
}
