/** The entry of the console: who is signed in decides what is shown. */
import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { ErrorState, Loading } from "./design/states.tsx";
import { LoadedView } from "./shell/loaded-view.tsx";
import { Shell } from "./shell/shell.tsx";
import { listenToKeys } from "./shell/shortcuts.ts";
import { followLinks, viewId } from "./state/address.ts";
import { session, watchSession } from "./state/session.ts";
import { keepLive } from "./state/time-range.ts";
import { SignIn } from "./views/sign-in/sign-in.tsx";
import { accountLink, openSession } from "./state/sign-in-link.ts";

const loadDevicePage = async () => (await import("./views/device/device-page.tsx")).DevicePage;

const loadLinkPage = async () => (await import("./views/sign-in/link-page.tsx")).LinkPage;

function Console() {
  const failure = useSignal<Error | undefined>(undefined);
  const load = () => {
    failure.value = undefined;
    openSession().catch((error: Error) => (failure.value = error));
  };
  useEffect(() => {
    load();
    // Another link that is opened in this tab changes only the fragment.
    const follow = () => void (/^#(?:code|link)=/.test(location.hash) && load());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  if (failure.value !== undefined) return <ErrorState error={failure.value} onRetry={load} />;
  if (session.value === undefined) return <Loading what="the console" />;
  if (accountLink.value !== undefined)
    return <LoadedView title="the form" load={loadLinkPage} props={{ link: accountLink.value }} />;
  if (session.value === null) return <SignIn />;
  if (viewId.value === "device")
    return <LoadedView title="the terminal" load={loadDevicePage} props={{ session: session.value }} />;
  return <Shell session={session.value} />;
}

followLinks();
watchSession();
listenToKeys();
keepLive();
render(<Console />, document.querySelector("#console")!);
