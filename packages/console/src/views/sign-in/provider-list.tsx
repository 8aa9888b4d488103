/** The identity providers of the server, as links that begin to sign in. */
import { apiUrl, requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { path } from "../../state/address.ts";

interface Provider {
  readonly name: string;
  readonly label: string;
  readonly available: boolean;
  readonly path: string;
}

export function ProviderList() {
  const { data } = useQuery((signal) =>
    requestJson<{ readonly data: readonly Provider[] }>("authentication/providers", { signal }),
  );
  const providers = data.value?.data ?? [];
  if (providers.length === 0) return null;
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
