/** The state of the server, for operators only. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { getServer, type ServerStateObject } from "../packages/server/src/api/status.ts";
import { satisfies } from "../packages/server/src/api/validate.ts";
import { startServer, untilTelemetryReady } from "./support/running-server.ts";

test("the state of the server is an operator's to see, with what all tenants sent", async () => {
  await using server = await startServer("", { telemetry: true });
  await untilTelemetryReady(server);
  const read = (key: string) => server.call("/admin/v1/server", undefined, { authorization: `Bearer ${key}` });
  const refused = await read(server.key);
  assert.equal(refused.status, 403);
  const response = await read(server.operatorKey);
  const state = (await response.json()) as ServerStateObject;
  assert.ok(satisfies(getServer.answer.schema!, state));
  assert.equal(state.status, "ok");
  assert.equal(state.checks["control_database"], "ok");
  const { received } = state;
  const trace = { resourceSpans: [{ scopeSpans: [{ spans: [span()] }] }] };
  assert.equal((await server.call("/v1/traces", trace)).status, 200);
  for (;;) {
    const { received: later } = (await (await read(server.operatorKey)).json()) as ServerStateObject;
    if (later.spans > received.spans) break;
  }
});

function span(): object {
  const nowUnixNano = `${Date.now()}000000`;
  const ids = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
  return { ...ids, name: "step", kind: 1, startTimeUnixNano: nowUnixNano, endTimeUnixNano: nowUnixNano };
}
