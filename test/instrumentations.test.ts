/**
 * Applications with real instrumentations call models through Sounding, and each call counts once. Most run in their own
 * process if SOUNDING_TEST_INSTRUMENTATIONS names a Python that has them; what they sent when they were recorded
 * (test/instrumentations/record.ts) is sent again in any case.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { applications, type Expected } from "./instrumentations/applications.ts";
import { startGateway, type Gateway } from "./instrumentations/gateway.ts";
import { endingNow, lastEndOf, readRecording } from "./instrumentations/recording.ts";
import { isPython, runApplication } from "./instrumentations/run-application.ts";
import { attributesOf } from "./support/call-spans.ts";
import { beforeTests } from "./support/hooks.ts";
import { instrumentedPython, needs } from "./support/needs.ts";

let gateway: Gateway;
let client: AsyncSounding;

async function open(stack: AsyncDisposableStack): Promise<void> {
  gateway = stack.use(await startGateway());
  client = new AsyncSounding({ apiKey: gateway.server.key, baseUrl: gateway.server.url, maxRetries: 0 });
}

/** Waits until Sounding has recorded the calls of a project: their spans are written asynchronously. */
async function untilRecorded(project: string, calls: number): Promise<void> {
  for (;;) {
    const { spans } = await client.traces.query({ trace: "all_traces", project_name: project });
    if (spans.filter((span) => attributesOf(span)["sounding.request.id"] !== undefined).length >= calls) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function sums(project: string, metric: string, by: string, where = ""): Promise<Record<string, number>> {
  const query = `sum by (${by}) (increase(${metric}{project_name="${project}"${where}}[1h])) > 0`;
  const { data } = await client.metrics.promql({ query });
  const series = data.result as { metric: Record<string, string>; value: [number, string] }[];
  return Object.fromEntries(series.map(({ metric: labels, value }) => [labels[by] ?? "", Number(value[1])]));
}

async function total(project: string, query: { metric: string; step?: string }): Promise<number> {
  const { samples } = await client.metrics.query({ ...query, project_name: project });
  return samples
    .flatMap(({ value, values }) => (value === null || value === undefined ? values : [value]))
    .reduce((sum, [, value]) => sum + Number(value), 0);
}

async function assertCounted(project: string, expected: Expected): Promise<void> {
  const tokens = await sums(project, "token_usage_total", "token_type");
  const { "": _unnamed, ...callsByAgent } = await sums(project, "inference_requests_total", "agent_name");
  const tasks = await sums(project, "agent_tasks_total", "agent_name");
  const tools = await sums(project, "agent_tool_calls_total", "tool_name");
  const sessions = await sums(project, "session_requests_total", "session_id");
  const failures = await sums(project, "inference_requests_total", "model_key", ', status="failure"');
  assert.deepEqual(
    {
      requests: await total(project, { metric: "inference_requests_total" }),
      requestsOverTime: await total(project, { metric: "inference_requests_total", step: "5m" }),
      inputTokens: tokens["input"],
      outputTokens: tokens["output"],
      tasks,
      tools,
      sessions: Object.keys(sessions).length,
      callsByAgent: expected.callsByAgent === undefined ? undefined : callsByAgent,
      failures,
    },
    {
      requests: expected.requests,
      requestsOverTime: expected.requests,
      inputTokens: expected.inputTokens,
      outputTokens: expected.outputTokens,
      tasks: expected.tasks ?? {},
      tools: expected.tools ?? {},
      sessions: expected.sessions ?? 0,
      callsByAgent: expected.callsByAgent,
      failures: expected.failuresByModel ?? {},
    },
  );
}

describe("the recording of", () => {
  beforeTests(open);
  for (const application of applications) {
    test(`${application.name} counts each call once`, async () => {
      const { name } = application;
      const { calls, exports } = await readRecording(name);
      gateway.begin(name);
      for (const { body, traceparent } of calls) {
        const headers = { "content-type": "application/json", ...(traceparent === undefined ? {} : { traceparent }) };
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body, headers });
        await answer.arrayBuffer();
      }
      await untilRecorded(name, calls.length);
      const lastEnd = lastEndOf(exports);
      for (const each of exports) {
        const answer = await gateway.server.call("/v1/traces", endingNow(each, lastEnd));
        assert.equal(answer.status, 200);
      }
      await assertCounted(name, application.expected);
    });
  }
});

describe("the application", { timeout: 600_000 }, () => {
  beforeTests(open);
  for (const application of applications) {
    const skip = isPython(application) && needs("python-instrumentations");
    test(`${application.name} runs, and each call counts once`, { skip }, async () => {
      await runApplication(application, gateway, instrumentedPython);
      await untilRecorded(application.name, gateway.calls.length);
      await assertCounted(application.name, application.expected);
    });
  }
});
