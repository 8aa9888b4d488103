/** Health, metrics and the contract itself. */
import type { OpenApiDocument } from "../api/openapi.ts";
import { getDocs, getHealth, getMetrics, getOpenApi, getReadiness } from "../api/status.ts";
import { route, type Route } from "../http/route.ts";
import { renderDocsPage } from "./docs-page.ts";
import type { Metrics } from "./metrics.ts";

type Checks = Readonly<Record<string, string | undefined>>;

export interface StatusParts {
  readonly metrics: Metrics;
  readonly document: OpenApiDocument;
  readonly docs: boolean;
  /** What the server needs in order to serve: each name with undefined when well, else what is wrong. */
  checkNeeds(): Promise<Checks>;
  /** What it can do without, for a while: shown, and no reason to send calls elsewhere. */
  checkRest(): Checks;
}

export function statusRoutes({ metrics, document, docs, checkNeeds, checkRest }: StatusParts): Route[] {
  const health = [
    route(getHealth, () => ({ kind: "json", value: { status: "ok" } })),
    route(getReadiness, async () => {
      const needs = await checkNeeds();
      const ready = Object.values(needs).every((problem) => problem === undefined);
      const shown = Object.fromEntries(
        Object.entries({ ...needs, ...checkRest() }).map(([name, problem]) => [name, problem ?? "ok"]),
      );
      const value = { status: ready ? "ok" : "unavailable", checks: shown };
      return { kind: "json", status: ready ? 200 : 503, value };
    }),
    route(getMetrics, async () => ({ kind: "text", ...(await metrics.scrape()) })),
  ];
  if (!docs) return health;
  const page = renderDocsPage(document);
  return [
    ...health,
    route(getOpenApi, () => ({ kind: "json", value: document })),
    route(getDocs, () => ({ kind: "text", text: page, type: "text/html; charset=utf-8", headers: pageHeaders })),
  ];
}

const pageHeaders = { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" };
