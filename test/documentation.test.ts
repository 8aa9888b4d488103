/** The documentation as a tree of Markdown: every link and anchor leads somewhere, and every page can be reached. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";
import { repository } from "./support/served-process.ts";

const pages = [
  ...globSync("docs/**/*.md", { cwd: repository, exclude: ["**/node_modules/**"] }),
  ...globSync(["*.md", "bench/*.md", "packages/*/README.md"], { cwd: repository }),
].sort();

const read = (page: string): string => readFileSync(join(repository, page), "utf8");

/** Prose only: fences and comments contain no links and no headings. */
const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```$|<!--.*?-->/gms, "");

interface Link {
  /** Relative to the repository. */
  readonly path: string;
  readonly anchor: string | undefined;
}

/** Links of a page to files of the repository. */
function linksOf(page: string): Link[] {
  const prose = withoutCode(read(page)).replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\((?<href>[^()\s]+)\)/g)]
    .map(({ groups }) => groups!["href"]!)
    .filter((href) => !/^[a-z]+:/.test(href))
    .map((href) => {
      const [path, anchor] = href.split("#", 2) as [string, string | undefined];
      return { path: path === "" ? page : normalize(join(dirname(page), decodeURI(path))), anchor };
    });
}

/** The anchors that code hosts, and the site, generate for the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const { groups } of withoutCode(read(page)).matchAll(/^#{1,6} (?<heading>.+)$/gm)) {
    const slug = anchorOf(groups!["heading"]!);
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[(?<text>[^\]]*)\]\([^)]*\)/g, "$<text>")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

describe("links of the documentation", () => {
  for (const page of pages) {
    test(`${page} links only to what exists`, () => {
      for (const { path, anchor } of linksOf(page)) {
        assert.ok(existsSync(join(repository, path)), `${page} links to ${path}, which does not exist`);
        if (anchor === undefined || !path.endsWith(".md")) continue;
        assert.ok(anchorsOf(path).has(anchor), `${page} links to ${path}#${anchor}, but ${path} has no such heading`);
      }
    });
  }

  test("exist", () => {
    assert.ok(pages.length > 60);
    assert.ok(pages.flatMap(linksOf).length > 200);
  });
});

test("every page of docs can be reached from docs/README.md, through the README of each folder", () => {
  const reached = new Set<string>();
  const visit = (page: string): void => {
    if (reached.has(page)) return;
    reached.add(page);
    if (!page.endsWith("README.md")) return;
    for (const { path } of linksOf(page)) {
      const target = statSync(join(repository, path)).isDirectory() ? join(path, "README.md") : path;
      if (target.startsWith("docs/") && target.endsWith(".md")) visit(target);
    }
  };
  visit("docs/README.md");
  const lost = pages.filter((page) => page.startsWith("docs/") && !reached.has(page));
  assert.deepEqual(lost, [], "Link these pages from the README.md of their folder.");
});
