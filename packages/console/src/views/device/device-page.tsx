/** The page on which a person signs a terminal in: it shows which one, and asks. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { Notice } from "../../design/states.tsx";
import { href, parameters, setParameters } from "../../state/address.ts";
import type { Session } from "../../state/session.ts";

interface DeviceRequest {
  readonly user_code: string;
  readonly client: string;
  readonly address: string | null;
  readonly status: "pending" | "approved" | "denied";
}

export function DevicePage({ session }: { readonly session: Session }) {
  const code = parameters.value.get("code") ?? "";
  const device = useSignal<DeviceRequest | undefined>(undefined);
  const failure = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const ask = (decision?: "approve" | "deny") => {
    busy.value = true;
    failure.value = undefined;
    const path = `authentication/device_requests/${encodeURIComponent(code)}`;
    requestJson<DeviceRequest>(path, decision === undefined ? {} : { json: { decision } })
      .then(
        (found) => void (device.value = found),
        (error: Error) => void (failure.value = error),
      )
      .finally(() => void (busy.value = false));
  };
  useEffect(() => {
    document.title = "Sign a terminal in · Sounding";
    device.value = undefined;
    if (code !== "" && session.person !== null) ask();
  }, [code]);
  return (
    <main class="sign-in">
      <div class="sign-in-card card stack">
        <header class="sign-in-header">
          <img src="icon.svg" alt="" width={32} height={32} />
          <h1>Sign a terminal in</h1>
        </header>
        {session.person === null && (
          <Notice kind="warning">
            You are signed in with an API key. Only a person can sign a terminal in: sign out, and sign in as one.
          </Notice>
        )}
        {failure.value !== undefined && <Notice kind="error">{failure.value.message}</Notice>}
        {session.person !== null && device.value === undefined && <CodeForm busy={busy.value} />}
        {device.value !== undefined && (
          <Question device={device.value} session={session} busy={busy.value} onDecide={ask} />
        )}
        <a href={href("")}>Go to the console</a>
      </div>
    </main>
  );
}

function CodeForm({ busy }: { readonly busy: boolean }) {
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const input = event.currentTarget.elements.namedItem("code") as HTMLInputElement;
        setParameters({ code: input.value.trim() });
      }}
    >
      <div class="field">
        <label for="device-code">Code that your terminal shows</label>
        <input id="device-code" name="code" class="input mono" required maxLength={20} autocomplete="off" />
      </div>
      <button type="submit" class="button primary" aria-disabled={busy}>
        Continue
      </button>
    </form>
  );
}

function Question({
  device,
  session,
  busy,
  onDecide,
}: {
  readonly device: DeviceRequest;
  readonly session: Session;
  readonly busy: boolean;
  readonly onDecide: (decision: "approve" | "deny") => void;
}) {
  const { address, client, status, user_code: code } = device;
  if (status !== "pending")
    return (
      <Notice kind={status === "approved" ? "info" : "warning"}>
        {status === "approved" ? "The terminal is signed in. You can close this page." : "The terminal was denied."}
      </Notice>
    );
  return (
    <>
      <p>
        <strong class="foreign">{client}</strong> at <span class="foreign">{address ?? "an unknown address"}</span>{" "}
        wants to act as <strong class="foreign">{session.person?.email}</strong> in{" "}
        <strong class="foreign">{session.organization}</strong>.
      </p>
      <p>
        Its code is <strong class="mono">{code}</strong>. Approve it only if you ran the command, and your terminal
        shows the same code.
      </p>
      <div class="row">
        <button type="button" class="button primary" aria-disabled={busy} onClick={() => !busy && onDecide("approve")}>
          Approve
        </button>
        <button type="button" class="button" aria-disabled={busy} onClick={() => !busy && onDecide("deny")}>
          Deny
        </button>
      </div>
    </>
  );
}
