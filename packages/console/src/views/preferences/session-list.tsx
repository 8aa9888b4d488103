/** The sessions of the person or the key that is signed in, each with a button that ends it. */
import { useSignal } from "@preact/signals";
import { request, requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";

interface SessionEntry {
  readonly id: string;
  readonly kind: "keys" | "browser" | "terminal";
  readonly client: string | null;
  readonly address: string | null;
  readonly last_used_at: number;
  readonly current: boolean;
}

const kinds = { keys: "Browser, with keys", browser: "Browser", terminal: "Terminal" } as const;

export function SessionList() {
  const { data, error, reload } = useQuery((signal) =>
    requestJson<{ readonly data: readonly SessionEntry[] }>("authentication/sessions", { signal }),
  );
  const failure = useSignal<Error | undefined>(undefined);
  const end = (id: string) => {
    failure.value = undefined;
    request(`authentication/sessions/${id}`, { method: "DELETE" }).then(reload, (thrown: Error) => {
      failure.value = thrown;
    });
  };
  const problem = failure.value ?? error.value;
  return (
    <>
      {problem !== undefined && <Notice kind="error">{problem.message}</Notice>}
      <ul class="preferences-list stack">
        {data.value?.data.map(({ address, client, current, id, kind, last_used_at: usedAt }) => (
          <li key={id} class="row">
            <span>
              {kinds[kind]}
              {current && " (this one)"}
              <span class="small muted foreign">
                {" "}
                {[client, address, `used ${formatTime(usedAt * 1000)}`].filter(Boolean).join(" · ")}
              </span>
            </span>
            {!current && (
              <button type="button" class="button" onClick={() => end(id)}>
                End<span class="visually-hidden"> {kinds[kind]}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
