/** A server with keys, sessions, the admin API and a route for each permission, for tests of signing in. */
import { operation } from "../../src/api/operation.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { route } from "../../src/http/route.ts";
import type { SignInSettings } from "../../src/config/sign-in.ts";
import type { HttpSettings } from "../../src/http/server.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Permission } from "../../src/permissions.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { recordedUsage } from "../../src/tenancy/recorded-usage.ts";
import { tenancyRoutes } from "../../src/tenancy/routes.ts";
import type { PasswordCost } from "../../src/sign-in/password-hash.ts";
import { openSignIn } from "../../src/sign-in/open-sign-in.ts";
import { startTestHttp } from "../support/test-http.ts";

/** Reports the key that a request used. */
const showKey = (path: string, permission: Permission, method: "GET" | "POST") =>
  route(
    operation({
      id: `${method.toLowerCase()}${path.replaceAll("/", "_")}`,
      method,
      path,
      tag: "Test",
      summary: "Show the key",
      permission,
      answer: { type: "application/json", description: "The key." },
    }),
    ({ scope }) => ({ kind: "json", value: { key_id: scope.key.keyId, project: scope.namedProject ?? null } }),
  );

export interface SessionServerOptions {
  readonly settings?: Partial<HttpSettings>;
  readonly failedKeys?: FailedKeys;
  readonly now?: () => number;
  readonly publicUrl?: string;
  readonly providers?: SignInSettings["providers"];
  readonly accounts?: boolean;
  readonly session_hours?: number;
  readonly session_idle_minutes?: number;
  readonly passwordCost?: PasswordCost;
}

/** @param control with an organization */
export async function startSessionServer(control: ControlDatabase, options: SessionServerOptions = {}) {
  const {
    settings = {},
    failedKeys = new FailedKeys(1_000),
    now = Date.now,
    accounts = true,
    passwordCost,
    providers = {},
    session_hours = 720,
    session_idle_minutes = 10_080,
    publicUrl,
  } = options;
  const signIn = await openSignIn({
    control,
    failedKeys,
    address: { publicUrl, url: "http://127.0.0.1:4141" },
    logger: silentLogger,
    now,
    settings: { accounts, providers, session_hours, session_idle_minutes },
    passwordCost,
  });
  const http = await startTestHttp({
    settings,
    failedKeys,
    checkKey: signIn.checkCaller,
    sessions: signIn,
    routes: [
      ...tenancyRoutes(control, recordedUsage(control)),
      ...signIn.routes,
      showKey("/inference", "inference", "POST"),
      showKey("/telemetry", "telemetry_read", "GET"),
      showKey("/administration", "admin", "GET"),
    ],
  });
  const close = async () => {
    await http.close();
    await signIn.close();
  };
  return { ...http, signIn, close, [Symbol.asyncDispose]: close };
}

/** A browser with one page of the server open: keeps its cookies and says where requests come from. */
export class TestBrowser {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  cookie: string | undefined;
  /** The last Set-Cookie. */
  setCookie: string | undefined;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.#headers = headers;
  }

  async request(
    method: string,
    path: string,
    { body, headers = { "sec-fetch-site": "same-origin" } }: { body?: unknown; headers?: Record<string, string> } = {},
  ) {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...this.#headers,
        ...headers,
        ...(this.cookie === undefined ? {} : { cookie: `other=1; ${this.cookie}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const set = response.headers.get("set-cookie");
    if (set !== null) {
      this.setCookie = set;
      this.cookie = set.includes("Max-Age=0") ? undefined : set.split(";", 1)[0];
    }
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown> & {
        error?: { code: string | null; message: string; param: string | null };
      },
    };
  }

  /** Signs in, and fails if that is refused. */
  async signIn(body: Readonly<Record<string, string>>) {
    const answer = await this.request("POST", "/authentication/sessions", { body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }
}
