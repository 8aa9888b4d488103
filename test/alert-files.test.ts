/** The files of docs/operate/alerts/: the rules are valid and fire, and what they and the dashboard read exists. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { childrenOf, type Expression } from "@sounding/promql/syntax/ast";
import { parseTree } from "@sounding/promql/syntax/parse";
import { parseYaml } from "../packages/server/src/config/yaml-file.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../docs/operate/alerts/", import.meta.url));
const read = (name: string): string => readFileSync(folder + name, "utf8");

// oxlint-disable-next-line typescript/no-explicit-any -- files and answers of tests are looked into freely
type Json = any;

/** Names of metrics that an expression selects. */
function metricsOf(text: string): string[] {
  const names: string[] = [];
  const visit = (node: Expression): void => {
    if (node.kind === "vector-selector" && node.name !== null) names.push(node.name);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parseTree(text.replaceAll(/\$__(?:rate_interval|range)/g, "5m")));
  return names;
}

const serverRules = parseYaml("rules", read("sounding.rules.yaml")).value as Json;
const dashboard = JSON.parse(read("server-dashboard.json"));

describe("the files for operators", () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    const sources = JSON.stringify(`${folder}applications.rules.yaml`);
    server = stack.use(await startServer(`alerts:\n  rule_files:\n    - path: ${sources}\n`, { telemetry: true }));
    await untilTelemetryReady(server);
  });

  test("the rules for Prometheus are valid, and fire when they should", { skip: needs("prometheus") }, async () => {
    await run("promtool", ["check", "rules", `${folder}sounding.rules.yaml`]);
    await run("promtool", ["test", "rules", "sounding.rules.test.yaml"], { cwd: folder });
  });

  test("the rules for Prometheus and the dashboard read only metrics that the server has", async () => {
    const exported = await (await fetch(`${server.url}/metrics`)).text();
    const known = new Set([...exported.matchAll(/^# TYPE (?<name>\S+)/gm)].map(({ groups }) => groups!["name"]!));
    const expressions: string[] = [
      ...serverRules.groups.flatMap(({ rules }: Json) => rules.map(({ expr }: Json) => expr as string)),
      ...dashboard.panels.flatMap(({ targets }: Json) => (targets ?? []).map(({ expr }: Json) => expr as string)),
    ];
    assert.ok(expressions.length > 30);
    const unknown = expressions
      .flatMap(metricsOf)
      .filter((name) => name !== "up" && !known.has(name) && !known.has(name.replace(/_bucket$/, "")));
    assert.deepEqual(unknown, []);
  });

  test("the rules for applications are loaded and can be evaluated", async () => {
    const { groups } = parseYaml("rules", read("applications.rules.yaml")).value as Json;
    const response = await server.call("/prometheus/api/v1/rules");
    const loaded = ((await response.json()) as Json).data.groups as Json[];
    assert.deepEqual(
      loaded.map(({ name }) => name as string).sort(),
      groups.map(({ name }: Json) => name as string).sort(),
    );
    for (const { expr } of loaded.flatMap(({ rules }: Json) => rules.map(({ query }: Json) => ({ expr: query })))) {
      const path = expr.includes("count_over_time") ? "/loki/api/v1/query" : "/prometheus/api/v1/query";
      const answer = await server.call(`${path}?query=${encodeURIComponent(expr)}`);
      assert.equal(answer.status, 200, `${expr}: ${await answer.text()}`);
    }
  });

  test("a rule for applications fires on the telemetry it is for", async () => {
    const unixNano = BigInt(Date.now() - 10_000) * 1_000_000n;
    const spans = Array.from({ length: 20 }, (_, index) => ({
      traceId: String(index + 1).padStart(32, "0"),
      spanId: String(index + 1).padStart(16, "0"),
      name: "chat",
      kind: 3,
      startTimeUnixNano: String(unixNano),
      endTimeUnixNano: String(unixNano + 1_000_000n),
      status: { code: index < 10 ? 2 : 0 },
      attributes: [
        { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
        { key: "gen_ai.request.model", value: { stringValue: "gpt-example" } },
      ],
    }));
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
    await server.call("/v1/traces", { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
    const { groups } = parseYaml("rules", read("applications.rules.yaml")).value as Json;
    const { expr } = groups[0].rules[0];
    for (;;) {
      const answer = await server.call(`/prometheus/api/v1/query?query=${encodeURIComponent(expr)}`);
      const { result } = ((await answer.json()) as Json).data;
      if (result.length > 0) {
        assert.equal(result[0].metric.model_key, "gpt-example");
        assert.equal(result[0].value[1], "0.5");
        return;
      }
      await sleep(100);
    }
  });
});
