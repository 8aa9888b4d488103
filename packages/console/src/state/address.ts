/**
 * The address of the page as signals. Every state of a view is in its address: the path under `/console/` and the query
 * parameters.
 */
import { batch, computed, signal } from "@preact/signals";

/** Parameters to set: several values under one name, or none to remove it. */
export type ParameterChanges = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Where `/console/` is: a proxy may serve it under another path. */
export const consoleRoot = new URL(document.baseURI);

function readPath(): string {
  return decodeURIComponent(location.pathname.slice(consoleRoot.pathname.length));
}

/** The path under `/console/`, decoded: `traces/4bf92f3577b34da6a3ce929d0e0e4736`. */
export const path = signal(readPath());
export const parameters = signal(new URLSearchParams(location.search));

/** The first segment of the path, which names the view. */
export const viewId = computed(() => path.value.split("/")[0] ?? "");
/** The path after the view: an ID, which may contain slashes. */
export const viewPath = computed(() => path.value.split("/").slice(1).join("/"));

/** The value of a parameter as a signal, which changes only if the value does. */
export function parameter(name: string) {
  return computed(() => parameters.value.get(name) ?? undefined);
}

/** An address for a link. Slashes in the path stay as they are, unless a browser would shorten the path: `a/../b`. */
export function href(to: string, changes: ParameterChanges = {}): string {
  const query = withChanges(new URLSearchParams(), changes).toString();
  const [view = "", ...rest] = to.split("/").map(encodeURIComponent);
  const isShortened = rest.length > 1 && rest.some((segment) => segment === "." || segment === "..");
  const encoded = [view, rest.join(isShortened ? "%2F" : "/")].join(rest.length === 0 ? "" : "/");
  return consoleRoot.pathname + encoded + (query === "" ? "" : `?${query}`);
}

/** Goes to an address from `href`, as a new entry of the history. */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  readAddress();
}

/** Changes parameters of the current view. */
export function setParameters(changes: ParameterChanges, options: { readonly replace?: boolean } = {}): void {
  const query = withChanges(new URLSearchParams(parameters.value), changes).toString();
  if (query === parameters.value.toString()) return;
  navigate(location.pathname + (query === "" ? "" : `?${query}`), options);
}

function withChanges(query: URLSearchParams, changes: ParameterChanges): URLSearchParams {
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const each of typeof value === "string" ? [value] : (value ?? [])) query.append(name, each);
  }
  return query;
}

function readAddress(): void {
  batch(() => {
    path.value = readPath();
    if (parameters.value.toString() !== new URLSearchParams(location.search).toString())
      parameters.value = new URLSearchParams(location.search);
  });
}

/** Makes links within the console change the address without loading the page again. */
export function followLinks(): void {
  addEventListener("popstate", readAddress);
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !plain || event.defaultPrevented) return;
    if (link.target !== "" || link.hasAttribute("download")) return;
    const { origin, pathname, search } = new URL(link.href);
    if (origin !== location.origin || !pathname.startsWith(consoleRoot.pathname)) return;
    event.preventDefault();
    if (pathname + search !== location.pathname + location.search) navigate(pathname + search);
  });
}
