/** Markdown as code hosts read it: relative links between files, their anchors, and diagrams in Mermaid's language. */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import { renderMermaidSVG } from "beautiful-mermaid";
import { anchorOf, repository, sitePages } from "./pages.ts";

/** The parts of markdown-it that are used. https://markdown-it.github.io/markdown-it/ */
interface Token {
  readonly type: string;
  info: string;
  readonly content: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

type RenderRule = (tokens: Token[], index: number, ...rest: unknown[]) => string;

interface MarkdownIt {
  readonly core: {
    readonly ruler: { push(name: string, rule: (state: { tokens: Token[]; env: PageContext }) => void): void };
  };
  readonly renderer: { readonly rules: { fence?: RenderRule } };
}

interface PageContext {
  /** The page on the site. */
  readonly relativePath: string;
}

/** Files that pages link to and that are no pages; the site has copies. */
export const attachments: Readonly<Record<string, string>> = {
  "docs/openapi.json": "openapi.json",
  "sounding.example.yaml": "sounding.example.yaml",
  NOTICE: "NOTICE.txt",
};

export const markdown = {
  anchor: { slugify: anchorOf },
  config(md: MarkdownIt): void {
    const pages = sitePages();
    const sources = new Map([...pages].map(([source, path]) => [path, source]));
    md.core.ruler.push("repository-links", ({ tokens, env }) => {
      const source = sources.get(env.relativePath);
      if (source === undefined) return;
      for (const link of tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === "link_open")) {
        link.attrSet("href", siteLink(link.attrGet("href") ?? "", { source, pages }));
      }
    });
    const fence = md.renderer.rules.fence!;
    md.renderer.rules.fence = (tokens, index, ...rest) => {
      const token = tokens[index]!;
      if (token.info === "mermaid") return renderDiagram(token.content);
      // The highlighter has no grammar for PromQL.
      if (token.info === "promql") token.info = "txt";
      return fence(tokens, index, ...rest);
    };
  },
};

/** A link of a Markdown file as the site's; one to a file that is on neither side stays, and fails the build as dead. */
function siteLink(href: string, { source, pages }: { source: string; pages: ReadonlyMap<string, string> }): string {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [path, anchor] = href.split("#", 2) as [string, string | undefined];
  const file = posix.normalize(posix.join(posix.dirname(source), path));
  const page = pages.get(file) ?? pages.get(posix.join(file, "README.md"));
  const target = page ?? (existsSync(posix.join(repository, file)) ? attachments[file] : undefined);
  return target === undefined ? href : `/${target}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** As SVG in the page; its own style sheet, which loads a font, makes room for the theme's. */
function renderDiagram(text: string): string {
  const svg = renderMermaidSVG(text, { transparent: true, padding: 8, nodeSpacing: 16, layerSpacing: 28 });
  const inner = svg
    .replace(/<style>.*?<\/style>/s, "")
    .replace(/ style="[^"]*"/, "")
    .replace(/ height="[^"]*"/, "");
  return `<div class="diagram" v-pre>${inner}</div>`;
}
