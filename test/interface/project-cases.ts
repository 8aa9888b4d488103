/** The projects that telemetry names, the deletion of sample telemetry, and the usage of limits. */
import assert from "node:assert/strict";
import { otlpSender } from "../support/otlp-sender.ts";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";
import { errorOf } from "./raw-request.ts";

/** Sends a request with the service's key, or with another one. */
function send(
  { url, key }: Facts,
  method: string,
  path: string,
  { body, by = key }: { body?: object; by?: string } = {},
) {
  return fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const countSpans = async (facts: Facts, project_name: string): Promise<string[]> => {
  const response = await send(facts, "POST", "/observability/traces", { body: { trace: "all_traces", project_name } });
  const { traces } = (await response.json()) as { traces: { rootTraceName: string }[] };
  return traces.map(({ rootTraceName }) => rootTraceName).sort();
};

export const projectCases: readonly InterfaceCase[] = [
  {
    name: "projects that have telemetry are listed with their signals, of the key's organization only",
    shows: ["telemetry-queries/projects"],
    async run({ facts, mode }) {
      const project = `only strange ${mode}`;
      const resource = { "service.name": "s", "project.name": project };
      const unixNano = BigInt(facts.atUnixNano);
      const stranger = otlpSender(facts.url, facts.strangerKey);
      await stranger.metrics(resource, [{ name: "m", startUnixNano: unixNano - 1n, unixNano, sum: 1 }]);
      const list = async (by: string): Promise<Record<string, string[]>> => {
        const response = await send(facts, "GET", "/observability/projects", { by });
        const { data } = (await response.json()) as { data: { name: string; signals: string[] }[] };
        const names = data.map(({ name }) => name);
        assert.deepEqual(names, [...names].sort());
        return Object.fromEntries(data.map(({ name, signals }) => [name, signals]));
      };
      const own = await list(facts.key);
      assert.deepEqual([own["desk"], own["shop"], own[project]], [["traces"], ["logs"], undefined]);
      assert.deepEqual((await list(facts.strangerKey))[project], ["metrics"]);
      const key = { name: "bound", permissions: ["telemetry_read"] };
      const projects = `/admin/v1/projects?organization_id=${facts.organizationId}&name=default`;
      const found = await send(facts, "GET", projects, { by: facts.operatorKey });
      const [{ id }] = ((await found.json()) as { data: [{ id: string }] }).data;
      const body = { ...key, organization_id: facts.organizationId, project_id: id };
      const created = await send(facts, "POST", "/admin/v1/keys", { by: facts.operatorKey, body });
      const { secret } = (await created.json()) as { secret: string };
      assert.deepEqual(
        Object.keys(await list(secret)).filter((name) => name !== "default"),
        [],
      );
    },
  },
  {
    name: "deleting samples deletes those of one project and organization, and nothing else",
    shows: ["telemetry-queries/sample-deletion"],
    async run({ facts, mode }) {
      const project = `samples ${mode}`;
      const resource = { "service.name": "s", "project.name": project };
      const span = (digit: string, name: string) => ({
        traceId: (mode === "synchronous" ? "1" : "2").repeat(31) + digit,
        spanId: "1".repeat(16),
        name,
        startUnixNano: BigInt(facts.atUnixNano),
      });
      const own = otlpSender(facts.url, facts.key);
      await own.spans(resource, [span("1", "real")]);
      const sample = { ...span("2", "sample"), startTimeUnixNano: facts.atUnixNano, endTimeUnixNano: facts.atUnixNano };
      const { startUnixNano: _, ...sent } = sample;
      const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
      const scoped = (name: string) => ({
        resourceSpans: [
          {
            resource: { attributes: [attribute("service.name", "s"), attribute("project.name", name)] },
            scopeSpans: [{ scope: { name: "sounding.demo" }, spans: [sent] }],
          },
        ],
      });
      for (const by of [facts.key, facts.strangerKey]) {
        const stored = await send(facts, "POST", "/v1/traces", { by, body: scoped(project) });
        assert.equal(stored.status, 200);
      }
      assert.deepEqual(await countSpans(facts, project), ["real", "sample"]);
      const remove = async (): Promise<unknown> => {
        const response = await send(facts, "DELETE", "/observability/samples", { body: { project_name: project } });
        return [response.status, await response.json()];
      };
      const receipt = { object: "samples_deletion", project_name: project, logs: 0, points: 0 };
      assert.deepEqual(await remove(), [200, { ...receipt, spans: 1 }]);
      assert.deepEqual(await countSpans(facts, project), ["real"]);
      assert.deepEqual(await countSpans({ ...facts, key: facts.strangerKey }, project), ["sample"]);
      assert.deepEqual(await remove(), [200, { ...receipt, spans: 0 }]);
    },
  },
  {
    name: "the limits of a key and an organization are listed with their usage, to their own administrators only",
    shows: ["authentication-and-tenants/usage"],
    async run({ facts, mode }) {
      const asOperator = async (path: string, body: object): Promise<{ id: string; secret: string }> => {
        const response = await send(facts, "POST", `/admin/v1${path}`, { by: facts.operatorKey, body });
        return (await response.json()) as { id: string; secret: string };
      };
      const key = await asOperator("/keys", {
        organization_id: facts.organizationId,
        name: `limited ${mode}`,
        permissions: ["telemetry_read", "admin"],
        limits: { requests_per_minute: 1 },
      });
      await send(facts, "GET", "/observability/metrics", { by: key.secret });
      const stranger = await asOperator("/keys", {
        organization_id: facts.strangerId,
        name: `stranger ${mode}`,
        permissions: ["admin"],
      });
      for (const path of [`/admin/v1/keys/${key.id}/usage`, `/admin/v1/organizations/${facts.organizationId}/usage`]) {
        const response = await send(facts, "GET", path, { by: key.secret });
        const { data } = (await response.json()) as { data: Record<string, unknown>[] };
        for (const row of data) {
          assert.deepEqual(Object.keys(row).sort(), ["applies_to", "limit", "remaining", "resets_at", "used", "value"]);
        }
        const requests = data.filter(({ limit }) => limit === "requests_per_minute");
        assert.deepEqual(
          requests.map(({ applies_to, value, used }) => [applies_to, value, used]),
          path.includes("keys")
            ? [
                ["inference", 1, 0],
                ["queries", 1, 1],
                ["exports", 1, 0],
              ]
            : [
                ["inference", null, null],
                ["queries", null, null],
                ["exports", null, null],
              ],
        );
        const foreign = await send(facts, "GET", path, { by: stranger.secret });
        assert.deepEqual([foreign.status, (await errorOf(foreign)).code], [404, "not_found"]);
      }
    },
  },
];
