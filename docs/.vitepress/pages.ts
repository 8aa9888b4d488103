/** The pages of the site: which Markdown files they are, where each one is on the site, and the sidebar that follows. */
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Pages outside `docs/`, which are where code hosts look for them, and the folder of records: their places on the site. */
const elsewhere: Readonly<Record<string, string>> = {
  "ARCHITECTURE.md": "internals/architecture.md",
  "CONTRIBUTING.md": "internals/contributing.md",
  "SECURITY.md": "internals/security.md",
  "CHANGELOG.md": "internals/changelog.md",
  "bench/README.md": "internals/benchmarks.md",
  "packages/server/src/README.md": "internals/modules.md",
  "packages/server/test/architecture/allowed-imports.md": "internals/allowed-imports.md",
};

const folders: readonly (readonly [source: string, site: string])[] = [
  ["docs/adr/", "internals/decisions/"],
  ["docs/", ""],
];

/** By the path in the repository: the path on the site, both with `.md`. */
export function sitePages(): ReadonlyMap<string, string> {
  const sources = [...Object.keys(elsewhere), ...globSync("docs/**/*.md", { cwd: repository })].sort();
  return new Map(sources.map((source) => [source, sitePath(source)]));
}

export function sitePath(source: string): string {
  const [from, to] = folders.find(([folder]) => source.startsWith(folder)) ?? ["", ""];
  return elsewhere[source] ?? `${to}${source.slice(from.length)}`.replace(/(^|\/)README\.md$/, "$1index.md");
}

export interface SidebarItem {
  readonly text: string;
  readonly link: string;
  readonly collapsed?: boolean;
  readonly items?: SidebarItem[];
}

/** The tree of folders; the links of a folder's README give the order of its pages, and those in lists and tables their names. */
export function sidebar(pages = sitePages()): SidebarItem[] {
  return itemsIn("", pages);
}

function itemsIn(folder: string, pages: ReadonlyMap<string, string>): SidebarItem[] {
  const sources = new Map([...pages].map(([source, path]) => [path, source]));
  const index = sources.get(`${folder}index.md`);
  const links = index === undefined ? [] : linksOf(index);
  const position = ({ source }: { source: string }): number => {
    const at = links.findIndex((link) => link.source === source);
    return at === -1 ? links.length : at;
  };
  return [...sources]
    .map(([path, source]) => ({ path, source }))
    .filter(({ path }) => parentOf(path) === folder)
    .toSorted((a, b) => position(a) - position(b))
    .map(({ path, source }) => {
      const text = links.find((link) => link.source === source && link.isEntry)?.text ?? titleOf(source);
      const link = `/${path.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "")}`;
      const items = path.endsWith("/index.md") ? itemsIn(`${posix.dirname(path)}/`, pages) : [];
      // At the top, one without pages looks like the others only if it has a list.
      return items.length === 0 && folder !== "" ? { text, link } : { text, link, collapsed: true, items };
    });
}

/** The folder whose index leads to a page; an index belongs to the folder above its own. */
function parentOf(path: string): string | undefined {
  if (path === "index.md") return undefined;
  const folder = posix.dirname(path);
  const parent = posix.basename(path) === "index.md" ? posix.dirname(folder) : folder;
  return parent === "." ? "" : `${parent}/`;
}

interface PageLink {
  readonly text: string;
  readonly source: string;
  /** Whether it begins an entry of a list, or a row of a table. */
  readonly isEntry: boolean;
}

function linksOf(source: string): PageLink[] {
  const text = readFileSync(posix.join(repository, source), "utf8");
  return [...text.matchAll(/(?<entry>^[-|] )?(?:\*\*)?\[(?<text>[^\]]+)\]\((?<href>[^()\s#]+\.md)\)/gm)].map(
    ({ groups }) => ({
      text: plain(groups!["text"]!),
      source: posix.normalize(posix.join(posix.dirname(source), groups!["href"]!)),
      isEntry: groups!["entry"] !== undefined,
    }),
  );
}

function titleOf(source: string): string {
  const text = readFileSync(posix.join(repository, source), "utf8");
  return plain(/^# (?<title>.+)$/m.exec(text)?.groups?.["title"] ?? source);
}

const plain = (text: string): string => text.replaceAll("`", "");

/** Anchors as code hosts give them, so that a link works there and on the site. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}
