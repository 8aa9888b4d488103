/** What the command palette finds: views, models, projects, keys, and a trace by its ID. */
import { requestJson } from "../api/request.ts";
import type { IconName } from "../design/icons.tsx";
import { href } from "../state/address.ts";
import type { Session } from "../state/session.ts";
import { viewAddress } from "./view-address.ts";
import { views } from "./views.ts";

export interface PaletteEntry {
  readonly title: string;
  readonly kind: "View" | "Model" | "Project" | "Key" | "Trace";
  readonly icon: IconName;
  readonly address: string;
}

interface NamedList {
  readonly data: readonly { readonly id?: string; readonly name?: string }[];
}

/** More are not shown; typing more finds them. */
const shownEntries = 50;

/** The names that the palette searches. What the key may not list, or cannot be listed now, is left out. */
export async function readNames(session: Session, signal: AbortSignal): Promise<PaletteEntry[]> {
  const list = (allowed: boolean, path: string): Promise<NamedList> =>
    allowed ? requestJson<NamedList>(path, { signal }).catch(() => ({ data: [] })) : Promise.resolve({ data: [] });
  const has = (permission: Session["permissions"][number]) => session.permissions.includes(permission);
  const [models, projects, keys] = await Promise.all([
    list(has("models_read"), "v1/models"),
    list(has("telemetry_read"), "observability/projects"),
    list(has("configuration_read"), "admin/v1/keys?limit=100&order=desc"),
  ]);
  return [
    ...models.data.map(({ id = "" }) => entry("Model", "models", id, href(`models/${id}`))),
    ...projects.data.map(({ name = "" }) => entry("Project", "traces", name, href("traces", { project: name }))),
    ...keys.data.map(({ name = "", id = "" }) => entry("Key", "key", name, href(`administration/keys/${id}`))),
  ];
}

/** The entries whose name contains every word of the text; a trace ID finds its trace. */
export function findEntries(text: string, session: Session, names: readonly PaletteEntry[]): PaletteEntry[] {
  const wanted = text.trim().toLowerCase();
  if (/^[0-9a-f]{32}$/.test(wanted)) return [entry("Trace", "traces", wanted, href(`traces/${wanted}`))];
  const own = views
    .filter((view) => view.isAllowed(session))
    .map(({ id, title, icon }) => entry("View", icon, title, viewAddress(id)));
  const words = wanted.split(/\s+/);
  return [...own, ...names]
    .filter(({ title, kind }) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)))
    .slice(0, shownEntries);
}

function entry(kind: PaletteEntry["kind"], icon: IconName, title: string, address: string): PaletteEntry {
  return { kind, icon, title, address };
}
