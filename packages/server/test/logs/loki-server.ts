/** A server with Loki's HTTP API over an embedded store, and a key for each of a few organizations. */
import { WebSocket } from "ws";
import { lokiRoutes } from "../../src/query/loki-api/loki-routes.ts";
import { AppError } from "../../src/errors.ts";
import { openTestStore } from "../store/test-store.ts";
import { startTestHttp } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
export type Json = any;

export interface LokiAnswer {
  readonly status: number;
  readonly body: Json;
}

/** A key `sk-org_a` belongs to `org_a`; `sk-org_a:billing` is bound to that organization's project `billing`. */
export async function startLokiServer() {
  const opened = await openTestStore();
  const revoked = new Set<string>();
  const http = await startTestHttp({
    routes: lokiRoutes({ store: opened.store, version: "0.0.0" }),
    checkKey: (secret) => {
      if (!secret.startsWith("sk-") || revoked.has(secret)) {
        throw new AppError("invalid_api_key", "The API key is not known.");
      }
      const [organizationId, projectName] = secret.replace(/^sk-/, "").split(":");
      return testKey({ organizationId: organizationId!, projectName });
    },
  });
  const call = async (path: string, init: RequestInit, key: string): Promise<LokiAnswer> => {
    const headers = { authorization: `Bearer sk-${key}`, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(`${http.url}${path}`, { ...init, headers });
    return { status: response.status, body: await response.json() };
  };
  return {
    url: http.url,
    store: opened.store,
    logged: http.logged,
    revoke: (key: string) => void revoked.add(`sk-${key}`),
    get: (path: string, parameters: Record<string, string> = {}, key = "org_a", headers = {}) =>
      call(`/loki/api/v1/${path}?${new URLSearchParams(parameters).toString()}`, { headers }, key),
    post: (path: string, form: string, key = "org_a") =>
      call(
        `/loki/api/v1/${path}`,
        { method: "POST", body: form, headers: { "content-type": "application/x-www-form-urlencoded" } },
        key,
      ),
    tail: (parameters: Record<string, string>, key = "org_a", headers = {}) =>
      new WebSocket(
        `${http.url.replace("http", "ws")}/loki/api/v1/tail?${new URLSearchParams(parameters).toString()}`,
        { headers: { authorization: `Bearer sk-${key}`, ...headers } },
      ),
    async [Symbol.asyncDispose]() {
      await http.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

export type LokiServer = Awaited<ReturnType<typeof startLokiServer>>;
