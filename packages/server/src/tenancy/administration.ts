/**
 * The admin API without a server, for processes that can open the control database: the same operations, checks and
 * responses as over HTTP, with an operator's permissions.
 */
import { resolve } from "node:path";
import { validate } from "../api/validate.ts";
import { Cancellation } from "../cancellation.ts";
import { AppError, toAppError } from "../errors.ts";
import type { Route, RouteInput } from "../http/route.ts";
import { Router } from "../http/router.ts";
import type { DefaultLimits } from "../limits/limiter.ts";
import { silentLogger } from "../logger.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { Scope } from "../tenant.ts";
import { accountLinkRoutes } from "./account-link-routes.ts";
import { localKeyId } from "./audit/actor.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { AuditTrail } from "./audit/audit-trail.ts";
import { budgetRoutes } from "./budget-routes.ts";
import { openControlDatabase, type ControlDatabaseOptions } from "./control-database.ts";
import { requireKnownInstallation } from "./installation.ts";
import { requireNotMoved } from "./move-record.ts";
import { recordedBudgets } from "./recorded-budgets.ts";
import { recordedUsage } from "./recorded-usage.ts";
import { tenancyRoutes } from "./routes.ts";
import type { ServerAddress } from "./sign-in-link.ts";

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
  /** Who administers, for the audit log. */
  readonly user?: string | undefined;
  /** Of the server, for links to its console. */
  readonly address?: ServerAddress | undefined;
  /** The setting `telemetry.currency`. */
  readonly currency?: string | undefined;
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
  const all = [
    ...tenancyRoutes(control, recordedUsage(control, options.limits)),
    ...budgetRoutes({ control, currency: options.currency, useOf: recordedBudgets(control) }),
    ...accountLinkRoutes(control, options.address ?? { publicUrl: undefined, url: "" }),
    ...auditRoutes(control),
  ];
  for (const [path, routes] of Map.groupBy(all, ({ operation }) => operation.path)) router.add(path, routes);
  const audit = new AuditTrail({ control, logger: silentLogger });
  audit.useRoutes(all);
  const scope = localOperator(options.user);
  return {
    async request(method, path, body) {
      const match = router.find(path);
      const route = match?.value.find(({ operation }) => operation.method === method);
      if (match === undefined || route === undefined) {
        throw new AppError("not_found", `The path ${path} does not exist (${method}).`);
      }
      const { operation } = route;
      const request = { operation, path: match.parameters, scope, ...localClient };
      try {
        const input = {
          ...idleInput,
          scope,
          body: (operation.body === undefined ? undefined : validate(operation.body, body)) as never,
          path: match.parameters,
          pathname: path,
          query: new URL(path, "http://localhost").searchParams,
        };
        const result = await audit.serve(request, input, () => route.serve(input));
        return result.kind === "json" ? result.value : undefined;
      } catch (error) {
        audit.failed(request, toAppError(error));
        throw error;
      }
    },
    async close() {
      await audit.close();
      await control.close();
    },
  };
}

/** A process that can write to the database has an operator's permissions anyway. */
function localOperator(user: string | undefined): Scope {
  return Scope.fromKey({
    keyId: localKeyId,
    keyName: user ?? localKeyId,
    organizationId: "",
    organizationName: "",
    operator: true,
    projectName: undefined,
    permissions: new Set(["admin"]),
    keyLimits: {},
    limitsKeyId: localKeyId,
    organizationLimits: {},
    allowedModels: undefined,
  });
}

const localClient = { session: undefined, clientAddress: undefined, userAgent: undefined, requestId: "local" } as const;

const never = new Cancellation();

const idleInput: Omit<RouteInput<never>, "body" | "path" | "pathname" | "query" | "scope"> = {
  bytes: Buffer.alloc(0),
  form: undefined,
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
