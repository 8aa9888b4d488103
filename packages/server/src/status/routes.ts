/** Health, metrics and the contract itself. */
import type { OpenApiDocument } from "../api/openapi.ts";
import { getHealth, getMetrics, getReadiness } from "../api/status.ts";
import { route, type Route } from "../http/route.ts";
import { docsRoutes } from "./docs-routes.ts";
import type { Metrics } from "./metrics.ts";

type Checks = Readonly<Record<string, string | undefined>>;

export interface StatusParts {
  readonly metrics: Metrics;
  readonly document: OpenApiDocument;
  readonly docs: boolean;
  /** What the server needs in order to serve: each name with undefined when well, else what is wrong. */
  readiness(): Promise<Checks>;
  /** What it can do without, for a while: shown, and no reason to send calls elsewhere. */
  informational(): Promise<Checks>;
  /** What is off because the configuration says so, with why: shown, and no problem. */
  readonly disabled: Checks;
}

export function statusRoutes({ metrics, document, docs, readiness, informational, disabled }: StatusParts): Route[] {
  metrics.watchChecks(async () => ({ ...(await readiness()), ...(await informational()) }));
  const health = [
    route(getHealth, () => ({ kind: "json", value: { status: "ok" } })),
    route(getReadiness, async () => {
      const [needs, rest] = await Promise.all([readiness(), informational()]);
      const isWell = (checks: Checks): boolean => Object.values(checks).every((problem) => problem === undefined);
      const shown = Object.fromEntries(
        Object.entries({ ...needs, ...rest, ...disabled }).map(([name, problem]) => [name, problem ?? "ok"]),
      );
      const status = !isWell(needs) ? "unavailable" : isWell(rest) ? "ok" : "degraded";
      return { kind: "json", status: status === "unavailable" ? 503 : 200, value: { status, checks: shown } };
    }),
    route(getMetrics, async () => ({ kind: "text", ...(await metrics.scrape()) })),
  ];
  return docs ? [...health, ...docsRoutes(document)] : health;
}
