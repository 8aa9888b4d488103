/** The contract for programs at `/openapi.json`, and for people at `/docs`. */
import type { OpenApiDocument } from "../api/openapi.ts";
import { getDocs, getDocsScript, getOpenApi } from "../api/status.ts";
import { AppError } from "../errors.ts";
import { route, type Route } from "../http/route.ts";
import { decompressScript, readApiReferenceScript, type ApiReferenceScript } from "./api-reference-script.ts";
import { docsPageHeaders, renderDocsPage } from "./docs-page.ts";

export function docsRoutes(document: OpenApiDocument): Route[] {
  // No key is needed and every caller gets the same bytes, so the document is serialized once.
  const contract = { bytes: Buffer.from(JSON.stringify(document)), type: "application/json" };
  let reading: Promise<ApiReferenceScript | undefined> | undefined;
  const script = (): Promise<ApiReferenceScript | undefined> =>
    (reading ??= readApiReferenceScript().catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));
  let decompressing: Promise<Buffer> | undefined;
  return [
    route(getOpenApi, () => ({ kind: "bytes", ...contract })),
    route(getDocs, async () => {
      const found = await script();
      const page = renderDocsPage(found && `docs/api-reference.js?v=${found.version}`);
      return { kind: "text", text: page, type: "text/html; charset=utf-8", headers: docsPageHeaders };
    }),
    route(getDocsScript, async ({ headers }) => {
      const found = await script();
      if (found === undefined) {
        throw new AppError(
          "not_found",
          "The script of /docs is not installed: it comes with the published package and with the development dependencies (`npm ci`).",
        );
      }
      const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(headers["accept-encoding"] ?? ""));
      return {
        kind: "bytes",
        bytes: takesGzip ? found.compressed : await (decompressing ??= decompressScript(found)),
        type: "text/javascript; charset=utf-8",
        headers: { ...scriptHeaders, ...(takesGzip ? { "content-encoding": "gzip" } : {}) },
      };
    }),
  ];
}

/** The page names the script with its version, so a copy never has to be asked about. */
const scriptHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  vary: "accept-encoding",
  "x-content-type-options": "nosniff",
};
