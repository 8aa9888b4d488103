/** Servers with roles share a Postgres and a store: each takes its part of the requests, and together they serve all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otlpSender } from "../support/otlp-sender.ts";
import { startServer } from "../support/running-server.ts";
import { chat, createKey, startFleet, type Fleet, type FleetServer } from "./fleet.ts";
import { beforeTests, useAll } from "../support/hooks.ts";
import { needs } from "../support/needs.ts";

describe("a gateway, an ingest and a query server", { skip: needs("postgresql") }, () => {
  let fleet: Fleet;
  let gateway: FleetServer;
  let ingest: FleetServer;
  let query: FleetServer;
  let key: string;

  beforeTests(async (stack) => {
    fleet = stack.use(await startFleet());
    // At the same time, in an empty database and an empty store.
    [gateway, ingest, query] = await useAll(stack, [
      fleet.serve({ env: { SOUNDING_ROLE: "gateway" } }),
      fleet.serve({ env: { SOUNDING_ROLE: "ingest" } }),
      fleet.serve({ env: { SOUNDING_ROLE: "query" } }),
    ]);
    key = await createKey(gateway);
  });

  const get = (server: FleetServer, path: string): Promise<Response> =>
    fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } });

  async function until<Value>(read: () => Promise<Value | undefined>): Promise<Value> {
    for (;;) {
      const value = await read();
      if (value !== undefined) return value;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  test("that start together create the first keys once", () => {
    assert.equal([gateway, ingest, query].filter(({ firstKey }) => firstKey !== undefined).length, 1);
  });

  test("each serve their part: a call at the gateway and pushed spans can be queried", async () => {
    const response = await chat(gateway.url, key);
    assert.equal(response.status, 200, await response.text());
    const now = BigInt(Date.now()) * 1_000_000n;
    const span = { traceId: "ab".repeat(16), spanId: "cd".repeat(8), name: "pushed", startUnixNano: now };
    await otlpSender(ingest.url, key).spans({ "service.name": "app" }, [span]);
    await until(async () => {
      const found = await get(query, "/tempo/api/search?limit=20");
      const { traces } = (await found.json()) as { traces: readonly { rootTraceName: string }[] };
      const names = traces.map(({ rootTraceName }) => rootTraceName).toSorted();
      return names.length === 2 ? names : undefined;
    });
  });

  test("refuse the others' requests, and name the role that takes them", async () => {
    const requests = [
      [ingest, "POST", "/v1/chat/completions", "gateway"],
      [query, "GET", "/v1/models", "gateway"],
      [gateway, "POST", "/v1/traces", "ingest"],
      [query, "POST", "/loki/api/v1/push", "ingest"],
      [gateway, "GET", "/prometheus/api/v1/query?query=up", "query"],
      [ingest, "GET", "/tempo/api/search", "query"],
    ] as const;
    for (const [server, method, path, role] of requests) {
      const response = await fetch(`${server.url}${path}`, { method });
      assert.equal(response.status, 404, path);
      assert.match(await response.text(), new RegExp(`the role ${role} or all do \\(server\\.role\\)`), path);
    }
  });

  test("all administer and report health", async () => {
    for (const server of [gateway, ingest, query]) {
      assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
      await createKey(server);
    }
  });

  test("run background jobs where telemetry is queried", async () => {
    for (const job of ["rollups", "alerts"]) await query.untilLogged(`"job":"${job}"`);
    // The audit log is every server's: one of them keeps it.
    const others = /"job":"(?!audit")[^"]*","msg":"this server runs the job"/;
    assert.match(query.log(), others);
    for (const server of [gateway, ingest]) assert.doesNotMatch(server.log(), others);
  });
});

test("a role without shared databases is refused", async () => {
  await assert.rejects(
    startServer("server: { role: gateway }"),
    /server\.role is gateway.*set storage\.database_url, or the role all\./,
  );
  await assert.rejects(
    startServer("server: { role: query }", { telemetry: true }),
    /set storage\.database_url and telemetry\.clickhouse\.url, or the role all\./,
  );
});
