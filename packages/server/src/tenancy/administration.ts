/**
 * The admin API without a server, for processes that can open the control database: the same operations, checks and
 * responses as over HTTP, with an operator's permissions.
 */
import { resolve } from "node:path";
import { validate } from "../api/validate.ts";
import { Cancellation } from "../cancellation.ts";
import { AppError } from "../errors.ts";
import type { Route, RouteInput } from "../http/route.ts";
import { Router } from "../http/router.ts";
import type { DefaultLimits } from "../limits/limiter.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { Scope } from "../tenant.ts";
import { openControlDatabase, type ControlDatabaseOptions } from "./control-database.ts";
import { requireKnownInstallation } from "./installation.ts";
import { requireNotMoved } from "./move-record.ts";
import { recordedUsage } from "./recorded-usage.ts";
import { tenancyRoutes } from "./routes.ts";

export interface Administration {
  /**
   * Does what the admin API does for this request and returns the body of its response.
   * @param path with its query string, such as `/admin/v1/keys?limit=5`
   * @throws AppError
   */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export interface AdministrationOptions extends ControlDatabaseOptions {
  /** The setting `storage.accept_empty_database`; false when absent. */
  readonly acceptEmptyDatabase?: boolean | undefined;
  /** The setting `limits`: of keys and organizations that have none of their own. */
  readonly limits?: DefaultLimits | undefined;
}

/** @throws AppError as `openControlDatabase`, `requireKnownInstallation` and `requireNotMoved` */
export async function openAdministration(options: AdministrationOptions): Promise<Administration> {
  const { dataDirectory, url: controlUrl } = options;
  await requireNotMoved({ dataDirectory: resolve(dataDirectory), controlUrl, telemetry: undefined });
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
  const router = new Router<readonly Route[]>();
  for (const [path, routes] of Map.groupBy(
    tenancyRoutes(control, recordedUsage(control, options.limits)),
    ({ operation }) => operation.path,
  )) {
    router.add(path, routes);
  }
  return {
    async request(method, path, body) {
      const match = router.find(path);
      const route = match?.value.find(({ operation }) => operation.method === method);
      if (match === undefined || route === undefined) {
        throw new AppError("not_found", `The path ${path} does not exist (${method}).`);
      }
      const result = await route.serve({
        ...idleInput,
        body: (route.operation.body === undefined ? undefined : validate(route.operation.body, body)) as never,
        path: match.parameters,
        pathname: path,
        query: new URL(path, "http://localhost").searchParams,
      });
      return result.kind === "json" ? result.value : undefined;
    },
    close: () => control.close(),
  };
}

/** A process that can write to the database has an operator's permissions anyway. */
const localOperator = Scope.fromKey({
  keyId: "local",
  keyName: "local",
  organizationId: "",
  organizationName: "",
  operator: true,
  projectName: undefined,
  permissions: new Set(["admin"]),
  keyLimits: {},
  limitsKeyId: "local",
  organizationLimits: {},
  allowedModels: undefined,
});

const never = new Cancellation();

const idleInput: Omit<RouteInput<never>, "body" | "path" | "pathname" | "query"> = {
  bytes: Buffer.alloc(0),
  form: undefined,
  scope: localOperator,
  session: undefined,
  origin: () => ({ secure: false, host: "", isReported: false }),
  headers: {},
  requestId: "local",
  clientAddress: undefined,
  signal: never.signal,
  cancellation: never,
  memory: new MemoryBudget(Number.POSITIVE_INFINITY).open(""),
  note: () => {},
};
