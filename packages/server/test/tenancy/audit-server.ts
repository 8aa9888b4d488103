/** A server with two tenants, sign-in, groups of alert rules and the audit log, for tests of the audit log. */
import { alertGroupRoutes } from "../../src/alerts/alert-group-routes.ts";
import type { AuditEvent, AuditVerification } from "../../src/api/audit.ts";
import { operation } from "../../src/api/operation.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { route } from "../../src/http/route.ts";
import type { SignInSettings } from "../../src/config/sign-in.ts";
import type { HttpSettings } from "../../src/http/server.ts";
import { silentLogger } from "../../src/logger.ts";
import { auditRoutes } from "../../src/tenancy/audit/audit-routes.ts";
import { AuditTrail } from "../../src/tenancy/audit/audit-trail.ts";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { recordedUsage } from "../../src/tenancy/recorded-usage.ts";
import { tenancyRoutes } from "../../src/tenancy/routes.ts";
import { scimRoutes } from "../../src/scim/routes.ts";
import { openSignIn } from "../../src/sign-in/open-sign-in.ts";
import { startTestHttp } from "../support/test-http.ts";

/** Operations whose audit depends on their names alone; they do nothing. */
const plain = (id: string, path: string, permission: "telemetry_read" | "inference") =>
  route(
    operation({
      id,
      method: "POST",
      path,
      tag: "Test",
      summary: "Nothing",
      permission,
      queryAsBody: true,
      answer: { type: "application/json", description: "Nothing." },
    }),
    () => ({ kind: "json", value: {} }),
  );

export interface AuditServerOptions {
  readonly settings?: Partial<HttpSettings>;
  readonly now?: () => number;
  readonly providers?: SignInSettings["providers"];
}

/** The members of answers that tests read. */
interface Answered {
  readonly id: string;
  readonly secret: string;
  readonly code: string;
  readonly data: readonly AuditEvent[];
  readonly has_more: boolean;
  readonly last_id: string;
  readonly memberships: readonly { readonly id: string }[];
  readonly error: { readonly param: string | null };
}

/** Sends a request and resolves with its status and its body. */
export type AuditCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ readonly status: number; readonly body: Answered }>;

/** @param control without an organization */
export async function startAuditServer(
  control: ControlDatabase,
  { now, providers = {}, settings = {} }: AuditServerOptions = {},
) {
  const first = (await bootstrap(control))!;
  const failedKeys = new FailedKeys(1_000_000);
  const address = { publicUrl: undefined, url: "http://127.0.0.1:4141" };
  const signIn = await openSignIn({
    control,
    settings: { accounts: true, providers, session_hours: 720, session_idle_minutes: 10_080 },
    passwordCost: { N: 2 ** 8, r: 8, p: 1 },
    failedKeys,
    address,
    logger: silentLogger,
  });
  const trail = new AuditTrail({ control, logger: silentLogger, now });
  const routes = [
    ...tenancyRoutes(control, recordedUsage(control)),
    ...alertGroupRoutes(control),
    ...auditRoutes(control),
    ...signIn.routes,
    ...scimRoutes({
      control,
      logger: silentLogger,
      providers: () => signIn.providerSettings(),
      address,
    }),
    plain("queryTraces", "/observability/traces", "telemetry_read"),
    plain("exportTelemetry", "/observability/export", "telemetry_read"),
    plain("createChatCompletion", "/v1/chat/completions", "inference"),
  ];
  trail.useRoutes(routes);
  const http = await startTestHttp({
    routes,
    settings,
    checkKey: signIn.checkCaller,
    sessions: signIn,
    failedKeys,
    audit: trail,
  });
  const as =
    (secret: string | undefined): AuditCall =>
    async (method, path, body, headers = {}) => {
      const response = await fetch(`${http.url}${path}`, {
        method,
        headers: {
          "user-agent": "audit-test",
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answered };
    };
  const operator = as(first.operatorKey);
  const tenant = async (name: string) => {
    const { body: organization } = await operator("POST", "/admin/v1/organizations", { name });
    const admin = { organization_id: name, name: `${name} admin`, permissions: ["admin"] };
    const { body: key } = await operator("POST", "/admin/v1/keys", admin);
    return { organization, key, call: as(key.secret) };
  };
  /** All entries that the caller sees, oldest first. */
  const events = async (call: AuditCall, filter = ""): Promise<AuditEvent[]> => {
    await trail.flush();
    const found: AuditEvent[] = [];
    let after = "";
    for (;;) {
      const { body, status } = await call("GET", `/admin/v1/audit?limit=100${after}${filter}`);
      if (status !== 200) throw new Error(JSON.stringify(body));
      found.push(...body.data);
      if (!body.has_more) return found;
      after = `&after=${body.last_id}`;
    }
  };
  const close = async (): Promise<void> => {
    await http.close();
    await trail.close();
    await signIn.close();
  };
  return {
    url: http.url,
    first,
    as,
    operator,
    ordinary: as(first.key),
    tenant,
    acme: await tenant("acme"),
    globex: await tenant("globex"),
    trail,
    events,
    verify: async (anchor = ""): Promise<AuditVerification> => {
      const query = anchor === "" ? "" : `?anchor=${anchor}`;
      const { body } = await operator("GET", `/admin/v1/audit/verification${query}`);
      return body as unknown as AuditVerification;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
