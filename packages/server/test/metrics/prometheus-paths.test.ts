/** What clients get that probe the address of Prometheus' API or request what Sounding does not serve there. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

let server: MetricsServer;
beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
});

describe("the paths under /prometheus", () => {
  for (const path of ["/prometheus", "/prometheus/", "/prometheus/?check=1"]) {
    test(`${path} shows where the API is, without a key`, async () => {
      const response = await fetch(server.url + path);
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/plain"]);
      assert.match(await response.text(), /\/prometheus\/api\/v1\//);
    });
  }

  for (const [method, path, status, errorType] of [
    ["GET", "/prometheus/api/v1/targets", 404, "not_found"],
    ["GET", "/prometheus/graph?g0.expr=up", 404, "not_found"],
    ["POST", "/prometheus/api/v1/admin/tsdb/snapshot", 404, "not_found"],
    ["DELETE", "/prometheus/api/v1/query", 405, "bad_data"],
    ["POST", "/prometheus/", 405, "bad_data"],
    ["GET", "/prometheus/api/v1/label/%zz/values", 400, "bad_data"],
  ] as const) {
    test(`${method} ${path} is refused with ${status} in Prometheus' form`, async () => {
      const response = await fetch(server.url + path, { method });
      const { error, ...rest } = (await response.json()) as { error: string };
      assert.deepEqual([response.status, rest], [status, { status: "error", errorType }]);
      assert.match(error, /\/prometheus|DELETE|POST/);
    });
  }

  test("do not change the errors of other paths", async () => {
    for (const path of ["/prometheuses", "/v1/prometheus/api", "/api"]) {
      const { error } = (await (await fetch(server.url + path)).json()) as { error: { code: string } };
      assert.equal(error.code, "not_found", path);
    }
  });
});
