/** What calls cost that applications report: as they say, else by the same prices; and that every view agrees. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { otlpSender } from "../support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const tokens = { "gen_ai.usage.input_tokens": 1_000n, "gen_ai.usage.output_tokens": 100n };

describe("the cost of a call that an application reports", () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    const yaml = `telemetry: { token_prices: { ours: { input: 1, output: 10 }, gpt-4o-mini: { input: 100, output: 100 } } }\n`;
    server = stack.use(await startServer(yaml, { telemetry: true }));
    await untilTelemetryReady(server);
  });

  let number = 0;
  const report = async (attributes: Readonly<Record<string, unknown>>, operation = "chat") => {
    number += 1;
    const project = `p${number}`;
    const id = number.toString(16).padStart(32, "b");
    await otlpSender(server.url, server.key).spans({ "service.name": "agent", "project.name": project }, [
      {
        traceId: id,
        spanId: "b7ad6b7169203331",
        name: "chat",
        startUnixNano: BigInt(Date.now() - 60_000) * 1_000_000n,
        duration: 1_000_000_000n,
        attributes: { "gen_ai.operation.name": operation, "gen_ai.conversation.id": project, ...attributes },
      },
    ]);
    return { project, id };
  };
  const ask = async <Answer>(path: string, body: object): Promise<Answer> => {
    const response = await server.call(path, body);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Answer;
  };
  /** In traces with and without their spans, conversations and metrics. */
  const costsOf = async ({ project, id }: { project: string; id: string }): Promise<unknown[]> => {
    type Traces = { traces: { summary: { cost: number | null } }[] };
    const whole = await ask<Traces>("/observability/traces", { trace: "all_traces", trace_id: id });
    const head = await ask<Traces>("/observability/traces", { trace: "all_traces", trace_id: id, detail: false });
    const { data } = await ask<{ data: { cost: number | null }[] }>("/observability/conversations", {
      project_name: project,
    });
    const metrics = await ask<{ data: { result: { value: [number, string] }[] } }>("/observability/metrics", {
      metric: "token_cost",
      project_name: project,
    });
    const sum = metrics.data.result[0]?.value[1];
    return [
      whole.traces[0]?.summary.cost,
      head.traces[0]?.summary.cost,
      data[0]?.cost,
      sum === undefined ? null : Number(sum),
    ];
  };

  for (const [what, attributes, cost] of [
    ["is what it says", { "gen_ai.usage.cost": 0.125, "gen_ai.request.model": "gpt-4o" }, 0.125],
    ["is what it says in the name of OpenInference", { "llm.cost.total": 0.25, "gen_ai.request.model": "m" }, 0.25],
    ["is what it says, also if that is nothing", { "gen_ai.usage.cost": 0, "gen_ai.request.model": "gpt-4o" }, 0],
    [
      "is that of the vendor's published price",
      { "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o", ...tokens },
      0.003_5,
    ],
    [
      "is that of the model that answered",
      {
        "gen_ai.system": "anthropic",
        "gen_ai.request.model": "claude-latest-and-greatest",
        "gen_ai.response.model": "claude-sonnet-4-5-20250929",
        ...tokens,
      },
      0.004_5,
    ],
    [
      "has the vendor's price of cached tokens",
      {
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.usage.input_tokens": 130_213n,
        "gen_ai.usage.output_tokens": 500n,
        "gen_ai.usage.cache_read.input_tokens": 128_955n,
        "gen_ai.usage.cache_creation.input_tokens": 1_253n,
      },
      0.050_900_25,
    ],
    ["is that of a configured price", { "gen_ai.request.model": "ours", ...tokens }, 0.002],
    [
      "is that of a configured price rather than a published one",
      { "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini", ...tokens },
      0.11,
    ],
    [
      "is unknown for a vendor that nobody knows",
      { "gen_ai.provider.name": "my-gpu", "gen_ai.request.model": "gpt-4o", ...tokens },
      null,
    ],
    ["is unknown without a vendor", { "gen_ai.request.model": "gpt-4o", ...tokens }, null],
    ["is unknown without tokens", { "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o" }, null],
    ["is unknown if what it says is no cost", { "gen_ai.usage.cost": "free", "gen_ai.request.model": "m" }, null],
    ["is unknown if what it says is negative", { "gen_ai.usage.cost": -5, "gen_ai.request.model": "m" }, null],
    [
      "is unknown if what it says is more than any call can cost",
      { "gen_ai.usage.cost": 1e300, "gen_ai.request.model": "m" },
      null,
    ],
  ] as const) {
    test(what, async () => {
      const seen = await costsOf(await report(attributes));
      for (const each of seen) {
        if (cost === null) assert.equal(each, null);
        else
          assert.ok(typeof each === "number" && Math.abs(each - cost) < 1e-12, `${JSON.stringify(seen)}, not ${cost}`);
      }
    });
  }

  test("is not that of an agent, whose calls have their own", async () => {
    const seen = await costsOf(await report({ "gen_ai.usage.cost": 5, "gen_ai.request.model": "m" }, "invoke_agent"));
    assert.deepEqual(seen, [null, null, null, null]);
  });
});
