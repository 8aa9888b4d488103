/** The frame of every view: navigation, the account, and the view itself. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { EmptyState } from "../design/states.tsx";
import { Icon } from "../design/icons.tsx";
import { href, navigate, path, viewId } from "../state/address.ts";
import type { Session } from "../state/session.ts";
import { Account } from "./account.tsx";
import { LoadedView } from "./loaded-view.tsx";
import { Palette } from "./palette.tsx";
import { ShortcutList } from "./shortcut-list.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { viewAddress } from "./view-address.ts";
import { firstView, views } from "./views.ts";

export function Shell({ session }: { readonly session: Session }) {
  const menuOpen = useSignal(false);
  const overlay = useSignal<"palette" | "shortcuts" | undefined>(undefined);
  const allowed = views.filter(({ isAllowed }) => isAllowed(session));
  const view = views.find(({ id }) => id === viewId.value);
  useEffect(() => {
    if (viewId.value === "") navigate(viewAddress(firstView(session).id), { replace: true });
  }, [viewId.value]);
  useEffect(() => void (menuOpen.value = false), [path.value]);
  useEffect(() => {
    document.title = view === undefined ? "Sounding" : `${view.title} · Sounding`;
  }, [view]);
  useShortcuts(
    () => [
      {
        keys: "?",
        description: "Show the keyboard shortcuts",
        group: "Everywhere",
        run: () => void (overlay.value = "shortcuts"),
      },
      {
        keys: "mod+k",
        description: "Find views, models, projects, keys and traces",
        group: "Everywhere",
        run: () => void (overlay.value = "palette"),
      },
      ...allowed.map(({ id, title, letter }) => ({
        keys: `g ${letter}`,
        description: `Go to ${title}`,
        group: "Everywhere" as const,
        run: () => navigate(viewAddress(id)),
      })),
    ],
    [session],
  );
  return (
    <div class="shell">
      <a class="skip-link" href="#view">
        Skip to the content
      </a>
      <header class="shell-bar">
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Navigation"
          aria-expanded={menuOpen.value}
          onClick={() => (menuOpen.value = !menuOpen.value)}
        >
          <Icon name="menu" />
        </button>
        <strong>{view?.title ?? "Sounding"}</strong>
      </header>
      <nav class={`shell-navigation ${menuOpen.value ? "open" : ""}`} aria-label="Views">
        <a class="shell-brand" href={viewAddress(firstView(session).id)}>
          <img src="icon.svg" alt="" width={24} height={24} />
          Sounding
        </a>
        <button type="button" class="shell-search" onClick={() => (overlay.value = "palette")}>
          <Icon name="search" />
          Find…
          <kbd class="spread">{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <ul>
          {allowed.map(({ id, title, icon }) => (
            <li key={id}>
              <a href={viewAddress(id)} aria-current={id === view?.id ? "page" : undefined}>
                <Icon name={icon} />
                {title}
              </a>
            </li>
          ))}
        </ul>
        <Account session={session} />
      </nav>
      <main id="view" class="shell-view" tabIndex={-1}>
        {view === undefined ? (
          viewId.value !== "" && <UnknownView />
        ) : view.isAllowed(session) ? (
          <LoadedView key={view.id} title={view.title} load={view.load} props={{}} />
        ) : (
          <EmptyState title={`${view.title} needs ${view.requirement}`} icon="key">
            <p>
              You are signed in with the key <strong class="foreign">{session.key_name}</strong>, which does not have
              it. Sign in with another key, or ask an administrator.
            </p>
          </EmptyState>
        )}
      </main>
      {overlay.value === "palette" && <Palette session={session} onClose={() => (overlay.value = undefined)} />}
      {overlay.value === "shortcuts" && <ShortcutList onClose={() => (overlay.value = undefined)} />}
    </div>
  );
}

function UnknownView() {
  return (
    <EmptyState title="This page does not exist" icon="warning">
      <p>
        The console has no view <code class="foreign">{viewId.value}</code>.
      </p>
      <a class="button" href={href("")}>
        Go to the first view
      </a>
    </EmptyState>
  );
}
