/** Pages of rule groups. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { prometheusRoutes } from "../../src/query/prometheus-api/prometheus-routes.ts";
import type { RuleGroupReport } from "../../src/query/prometheus-api/rule-reports.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { emptyStore } from "./alerts-fixture.ts";

function groupWith(alert: string): RuleGroupReport {
  const rule = {
    name: alert,
    query: "vector(1)",
    forMs: 0,
    keepFiringForMs: 0,
    labels: {},
    annotations: {},
    health: "ok" as const,
    lastError: undefined,
    lastEvaluationMs: undefined,
    evaluationMs: 0,
    alerts: [],
  };
  return { name: "g", file: "rules.yaml", intervalMs: 60_000, limit: 0, rules: [rule] };
}

test("pages of groups end, also if two files and their groups have the same names", async () => {
  const http = await startTestHttp({
    routes: prometheusRoutes({
      store: emptyStore(),
      version: "0.0.0",
      ruleGroups: async () => ["One", "Two", "Three"].map(groupWith),
    }),
    checkKey: () => testKey({}),
  });
  try {
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const next = token === undefined ? "" : `&group_next_token=${token}`;
      const response = await fetch(`${http.url}/prometheus/api/v1/rules?group_limit=1${next}`, {
        headers: { authorization: `Bearer ${testSecret}` },
      });
      const { data } = (await response.json()) as {
        data: { groups: { rules: { name: string }[] }[]; groupNextToken?: string };
      };
      seen.push(data.groups[0]!.rules[0]!.name);
      token = data.groupNextToken;
    } while (token !== undefined && seen.length < 10);
    assert.deepEqual(seen, ["One", "Two", "Three"]);
  } finally {
    await http.close();
  }
});
