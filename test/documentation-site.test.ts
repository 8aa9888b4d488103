/** The documentation as a site: its sidebar has every page, and it builds without dead links or other hosts. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { sidebar, sitePages, type SidebarItem } from "../docs/.vitepress/pages.ts";
import { repository } from "./support/served-process.ts";

const run = promisify(execFile);

const flattened = (items: readonly SidebarItem[]): SidebarItem[] =>
  items.flatMap((item) => [item, ...flattened(item.items ?? [])]);

test("the sidebar has every page once", () => {
  const links = flattened(sidebar()).map(({ link }) => link);
  const pages = [...sitePages().values()]
    .filter((path) => path !== "index.md")
    .map((path) => `/${path.replace(/(?:index)?\.md$/, "")}`);
  assert.deepEqual(links.toSorted(), pages.toSorted());
});

test("the sidebar's sections are those of docs/README.md, in its order", () => {
  const sections = sidebar().map(({ text }) => text);
  const contents = readFileSync(join(repository, "docs/README.md"), "utf8");
  assert.deepEqual(
    sections,
    [...contents.matchAll(/^- \[(?<section>[^\]]+)\]/gm)].map(({ groups }) => groups!["section"]),
  );
});

test("the site builds: no dead links, every page, a search index, diagrams, nothing from other hosts", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sounding-site-"));
  try {
    // A dead link ends the build with an error.
    await run(join(repository, "node_modules/.bin/vitepress"), ["build", "docs", "--outDir", folder], {
      cwd: repository,
    });
    for (const path of sitePages().values()) {
      const html = readFileSync(join(folder, path.replace(/\.md$/, ".html")), "utf8");
      assert.match(html, /<h1 /, path);
      assert.doesNotMatch(html, /<(?:script|link|img|iframe)[^>]* (?:src|href)="(?:https?:)?\/\//, path);
    }
    for (const style of globSync("assets/*.css", { cwd: folder })) {
      assert.doesNotMatch(readFileSync(join(folder, style), "utf8"), /url\(["']?(?:https?:)?\/\/|@import/, style);
    }
    const chat = readFileSync(join(folder, "chat/index.html"), "utf8");
    assert.match(chat, /<div class="diagram"><svg [^>]*>(?!<style)/);
    assert.doesNotMatch(chat, /language-mermaid/);
    const index = globSync("assets/chunks/@localSearchIndexroot.*.js", { cwd: folder });
    assert.equal(index.length, 1);
    assert.match(readFileSync(join(folder, index[0]!), "utf8"), /\/reference\/configuration\/server\.html#serverport/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
