/** The documentation as a site: `npm run docs:dev`, `npm run docs:build`. https://vitepress.dev/reference/site-config */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { attachments, markdown } from "./markdown.ts";
import { repository, sidebar, sitePages, sitePath } from "./pages.ts";

const publicFolder = fileURLToPath(new URL("cache/public", import.meta.url));
mkdirSync(publicFolder, { recursive: true });
for (const [source, name] of Object.entries(attachments)) cpSync(join(repository, source), join(publicFolder, name));

const pages = sitePages();

// oxlint-disable-next-line import/no-default-export -- VitePress reads the configuration as the default export
export default defineConfig({
  title: "Sounding",
  description: "One server for chat completions, speech, transcription and telemetry behind one API key",
  lang: "en",
  // Architecture, benchmarks and the like are outside docs/.
  srcDir: "..",
  srcExclude: ["README.md", "packages/*/README.md", "packages/*/node_modules/**", "test/**"],
  outDir: "../dist/docs",
  rewrites: (source) => sitePath(source),
  markdown: markdown as object,
  vite: { publicDir: publicFolder },
  themeConfig: {
    sidebar: sidebar(pages),
    outline: { level: [2, 3] },
    search: { provider: "local" },
  },
});
