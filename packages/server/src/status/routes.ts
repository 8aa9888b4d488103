/** Routes for health, metrics and the API's documentation. */
import type { OpenApiDocument } from "../api/openapi.ts";
import { getHealth, getMetrics, getReadiness, getServer, type ServerStateObject } from "../api/status.ts";
import { route, type Route } from "../http/route.ts";
import { docsRoutes } from "./docs-routes.ts";
import { parseIngestedRows } from "./ingested-rows.ts";
import type { Metrics } from "./metrics.ts";
import type { Scrape } from "./scrape.ts";

type Checks = Readonly<Record<string, string | undefined>>;

export interface StatusParts {
  readonly metrics: Metrics;
  /** The metrics of all processes of this server; absent: it has one. */
  readonly scrape?: (() => Promise<Scrape>) | undefined;
  readonly document: OpenApiDocument;
  readonly docs: boolean;
  /** Required checks, by name: undefined if passed, else the problem. */
  readiness(): Promise<Checks>;
  /** Informational checks: shown, but a failure does not make the server unavailable. */
  informational(): Promise<Checks>;
  /** What the configuration disables, with the reason: shown, and not a failure. */
  readonly disabled: Checks;
}

export function statusRoutes(parts: StatusParts): Route[] {
  const { metrics, document, docs, readiness, informational } = parts;
  const scrape = parts.scrape ?? (() => metrics.scrape());
  metrics.watchChecks(async () => ({ ...(await readiness()), ...(await informational()) }));
  const health = [
    route(getHealth, () => ({ kind: "json", value: { status: "ok", version: document.info.version } })),
    route(getReadiness, async () => {
      const { status, checks } = await check(parts);
      return { kind: "json", status: status === "unavailable" ? 503 : 200, value: { status, checks } };
    }),
    route(getServer, async ({ scope }) => {
      scope.requireOperator("see the state of the server");
      const [state, { text }] = await Promise.all([check(parts), scrape()]);
      const received = parseIngestedRows(text);
      const version = String(document.info["version"]);
      const value: ServerStateObject = { object: "server", version, ...state, received };
      return { kind: "json", value };
    }),
    route(getMetrics, async () => ({ kind: "text", ...(await scrape()) })),
  ];
  return docs ? [...health, ...docsRoutes(document)] : health;
}

async function check({
  readiness,
  informational,
  disabled,
}: StatusParts): Promise<Pick<ServerStateObject, "status" | "checks">> {
  const [required, rest] = await Promise.all([readiness(), informational()]);
  const allPass = (checks: Checks): boolean => Object.values(checks).every((problem) => problem === undefined);
  const checks: Record<string, string> = {};
  const all: Checks = { ...required, ...rest, ...disabled };
  for (const [name, problem] of Object.entries(all)) checks[name] = problem ?? "ok";
  return { status: !allPass(required) ? "unavailable" : allPass(rest) ? "ok" : "degraded", checks };
}
