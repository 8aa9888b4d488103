import assert from "node:assert/strict";
import { test } from "node:test";
import { childProcesses } from "./support/child-processes.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

interface Readiness {
  readonly status: string;
  readonly checks: Record<string, string>;
}

/** Waits until `/readyz` reports one. */
async function storeProblem(server: RunningServer): Promise<string> {
  for (;;) {
    const { status, checks } = (await (await server.call("/readyz")).json()) as Readiness;
    if (status === "degraded") return checks["telemetry_store"]!;
  }
}

test("/readyz reports when the telemetry store is ready; calls are served before that", async () => {
  await using server = await startServer("", { telemetry: true });
  for (;;) {
    const answer = await server.call("/readyz");
    const { status, checks } = (await answer.json()) as Readiness;
    assert.equal(answer.status, 200);
    if (checks["telemetry_store"] === "ok") return;
    assert.equal(status, "degraded");
    assert.equal(checks["telemetry_store"], "The telemetry store is starting.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("/readyz says at once that the telemetry store does not answer; it is replaced, and the query that waits for it is answered", async () => {
  await using server = await startServer("telemetry: { query_timeout_ms: 120000 }", { telemetry: true });
  await untilTelemetryReady(server);
  const [engine] = childProcesses(/embedded/);
  process.kill(engine!, "SIGSTOP");
  const query = server.call("/observability/logs", { limit: 1 });
  assert.equal(await storeProblem(server), "The embedded telemetry store does not answer.");
  assert.equal((await query).status, 200);
  assert.notDeepEqual(childProcesses(/embedded/), [engine]);
});

test("queries that run while the telemetry store's process ends are answered by the next one", async () => {
  await using server = await startServer("telemetry: { query_timeout_ms: 120000 }", { telemetry: true });
  await untilTelemetryReady(server);
  const [engine] = childProcesses(/embedded/);
  process.kill(engine!, "SIGSTOP");
  const queries = Array.from({ length: 10 }, () => server.call("/observability/logs", { limit: 1 }));
  // Answered when all of them wait for the store.
  await storeProblem(server);
  process.kill(engine!, "SIGKILL");
  assert.deepEqual(
    (await Promise.all(queries)).map(({ status }) => status),
    queries.map(() => 200),
  );
});

test("/metrics counts the rows of telemetry that were written", async () => {
  await using server = await startServer("", { telemetry: true });
  const body = JSON.stringify({
    resourceLogs: [
      { scopeLogs: [{ logRecords: [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: "hello" } }] }] },
    ],
  });
  const taken = await server.call("/v1/logs", body);
  assert.equal(taken.status, 200);
  let text: string;
  do text = await (await server.call("/metrics")).text();
  while (!/^sounding_telemetry_journal_bytes 0$/m.test(text));
  assert.match(text, /^sounding_telemetry_rows_total\{table="logs",outcome="written"\} 1$/m);
  assert.match(text, /^sounding_telemetry_insert_duration_seconds_count\{table="logs"\} 1$/m);
  assert.match(text, /^sounding_telemetry_queue_bytes 0$/m);
});

test("/readyz reports that telemetry is disabled", async () => {
  await using server = await startServer();
  const { checks } = (await (await server.call("/readyz")).json()) as Readiness;
  assert.match(checks["telemetry_store"]!, /switched off/);
});
