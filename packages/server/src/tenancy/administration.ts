/**
 * The admin API without a server, for whoever has the control database at hand: the same operations, checks and
 * answers as over HTTP, with an operator's rights.
 */
import { validate } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import type { Route, RouteInput } from "../http/route.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { Scope } from "../tenant.ts";
import { openControlDatabase, type ControlDatabaseOptions } from "./control-database.ts";
import { requireKnownInstallation } from "./installation.ts";
import { tenancyRoutes } from "./routes.ts";

export interface Administration {
  /**
   * Does what the admin API does for this request and gives the body of its answer.
   * @param path with its query string, such as `/admin/v1/keys?limit=5`
   * @throws AppError
   */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export interface AdministrationOptions extends ControlDatabaseOptions {
  /** The setting `storage.accept_empty_database`; false when absent. */
  readonly acceptEmptyDatabase?: boolean | undefined;
}

/** @throws AppError as `openControlDatabase` and `requireKnownInstallation` */
export async function openAdministration(options: AdministrationOptions): Promise<Administration> {
  const control = await openControlDatabase(options);
  try {
    await requireKnownInstallation(control, {
      dataDirectory: options.dataDirectory,
      acceptEmptyDatabase: options.acceptEmptyDatabase ?? false,
    });
  } catch (error) {
    await control.close();
    throw error;
  }
  const routes = tenancyRoutes(control);
  return {
    async request(method, path, body) {
      const { pathname, searchParams } = new URL(path, "http://localhost");
      const { route, parameters } = findRoute(routes, method, pathname);
      const answer = await route.serve({
        ...idleInput,
        body: (route.operation.body === undefined ? undefined : validate(route.operation.body, body)) as never,
        path: parameters,
        query: searchParams,
      });
      return answer.kind === "json" ? answer.value : undefined;
    },
    close: () => control.close(),
  };
}

/** Whoever can read and write the database can do all that an operator can. */
const localOperator = Scope.fromKey({
  keyId: "local",
  keyName: "local",
  organizationId: "",
  organizationName: "",
  operator: true,
  projectName: undefined,
  permissions: new Set(["admin"]),
  keyLimits: {},
  organizationLimits: {},
  allowedModels: undefined,
});

const idleInput: Omit<RouteInput<never>, "body" | "path" | "query"> = {
  bytes: Buffer.alloc(0),
  form: undefined,
  scope: localOperator,
  headers: {},
  requestId: "local",
  signal: new AbortController().signal,
  memory: new MemoryBudget(Number.POSITIVE_INFINITY).open(""),
  note: () => {},
};

function findRoute(
  routes: readonly Route[],
  method: string,
  pathname: string,
): { route: Route; parameters: Record<string, string> } {
  for (const route of routes) {
    const pattern = new RegExp(`^${route.operation.path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
    const match = pattern.exec(pathname);
    if (match === null || route.operation.method !== method) continue;
    const parameters = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { route, parameters: Object.fromEntries(parameters) as Record<string, string> };
  }
  throw new AppError("not_found", `There is nothing at ${method} ${pathname}.`);
}
