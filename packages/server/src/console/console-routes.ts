/** The web console at `/console/`: the files of the package @sounding/console. docs/adr/0028-client-command-and-pages.md */
import type { ConsoleFile, ConsoleFiles } from "@sounding/console";
import { getConsole, getConsoleFile, getRoot } from "../api/console.ts";
import { AppError } from "../errors.ts";
import { route, type ResponseHeaders, type Route, type RouteResponse } from "../http/route.ts";
import type { LeveledLogger } from "../logger.ts";

export interface WebConsole {
  readonly routes: Route[];
  /** Resolves to whether the console can be served, once its files are in memory. Never rejects. */
  prepare(): Promise<boolean>;
}

export function createWebConsole({ logger }: { readonly logger: Pick<LeveledLogger, "warn"> }): WebConsole {
  let loading: Promise<ConsoleFiles | undefined> | undefined;
  const load = (): Promise<ConsoleFiles | undefined> =>
    (loading ??= readFiles().catch((error: unknown) => {
      logger.warn({ error }, "the web console is not available because its files could not be read");
      return undefined;
    }));
  const page = async (pathname: string): Promise<RouteResponse> => {
    const file = (await load())?.get("index.html");
    if (file === undefined) throw unavailable();
    return { kind: "text", text: withBase(file, pathname), type: file.type, headers: pageHeaders };
  };
  return {
    routes: [
      route(getRoot, () => toConsole),
      route(getConsole, () => toConsole),
      route(getConsoleFile, async ({ path, pathname, headers }) => {
        const name = path["path"] ?? "";
        const file = name === "index.html" ? undefined : (await load())?.get(name);
        if (file !== undefined) return send(file, headers["accept-encoding"]);
        if (name.startsWith("assets/"))
          throw new AppError("not_found", `The console has no file ${JSON.stringify(name)}.`);
        return page(pathname);
      }),
    ],
    prepare: async () => (await load()) !== undefined,
  };
}

/** Relative, since a proxy may add a prefix: from `/` and from `/console` it leads to the same place. */
const toConsole: RouteResponse = { kind: "empty", status: 307, headers: { location: "console/" } };

async function readFiles(): Promise<ConsoleFiles> {
  const { readConsoleFiles } = await import("@sounding/console");
  return readConsoleFiles();
}

/**
 * Every path under `/console/` is the page, so relative addresses need the way back: a proxy may add a prefix.
 * @param pathname not decoded, since an encoded slash is no level for a browser
 */
function withBase({ bytes }: ConsoleFile, pathname: string): string {
  const depth = pathname.split("/").length - 3;
  const base = depth === 0 ? "./" : "../".repeat(depth);
  return Buffer.from(bytes).toString("utf8").replace("<head>", `<head>\n<base href="${base}">`);
}

function send(file: ConsoleFile, acceptEncoding: string | string[] | undefined): RouteResponse {
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(acceptEncoding ?? ""));
  const compressed = takesGzip ? file.compressed : undefined;
  return {
    kind: "bytes",
    bytes: compressed ?? file.bytes,
    type: file.type,
    headers: {
      "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
      // Of a worker, that of its script counts.
      "content-security-policy": contentSecurityPolicy,
      vary: "accept-encoding",
      ...(compressed === undefined ? {} : { "content-encoding": "gzip" }),
    },
  };
}

// Media and images may also come from memory: recordings, synthesized speech, images of a prompt.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

const pageHeaders: ResponseHeaders = {
  "cache-control": "no-cache",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "microphone=(self), camera=(), geolocation=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

function unavailable(): AppError {
  return new AppError(
    "not_found",
    "The web console is not installed with this server. Install the package @sounding/console, or use the API and the command sounding.",
  );
}
