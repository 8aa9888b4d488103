/** CPU time that pricing adds to a call: its usage, its price, its cost, and the answer's members and header. */
import { parseArgs } from "node:util";
import type { ChatUsage } from "../../packages/server/src/api/chat-answer.ts";
import { UsageRecord } from "../../packages/server/src/chat/usage-record.ts";
import type { Attempt } from "../../packages/server/src/engines/engine.ts";
import {
  costHeaders,
  createCallCosts,
  withCost,
  type CallCosts,
} from "../../packages/server/src/pricing/call-costs.ts";
import { Prices } from "../../packages/server/src/pricing/prices.ts";
import { quantile } from "../quantile.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const rounds = values.quick ? 10 : 50;
const callsPerRound = 20_000;
/** More would be felt by fast callers. */
const mostMicroseconds = 5;

const engines = {
  claude: { type: "anthropic" },
  gpu: { type: "openai_compatible", base_url: "http://127.0.0.1/v1" },
};
const prices = await Prices.open({
  configured: {
    ours: { input: 2, output: 8, cache_read: 0.2, cache_write: 2.5, tiers: [{ above: 200_000, input: 4 }] },
  },
  ofOrganizations: {},
  published: true,
  currency: "USD",
  settingsOf: (engine) => engines[engine as keyof typeof engines],
});
await prices.load();
const priced = createCallCosts(prices, true);
const unpriced: CallCosts = { areTold: false, of: () => undefined };

const usage: ChatUsage = {
  prompt_tokens: 130_213,
  completion_tokens: 500,
  total_tokens: 130_713,
  prompt_tokens_details: { cached_tokens: 128_955, cache_write_tokens: 1_253 },
};
const cases = [
  ["a configured price", "gpu", "ours"],
  ["a published price", "claude", "claude-sonnet-4-5"],
  ["no price", "gpu", "unknown"],
] as const;

const payer = { organizationId: "org_1", organizationName: "acme" };

/** As a call does at its end. @returns something, so that nothing is optimized away */
function endCall(costs: CallCosts, attempts: readonly Attempt[], requestedModel: string): number {
  const record = new UsageRecord({ costs, payer, requestedModel, promptTokens: 9, attempts, guard: undefined });
  record.setUsage({ ...usage }, true);
  const { cost } = record.end(undefined);
  const told = costs.areTold ? cost : undefined;
  return JSON.stringify(withCost(usage, told)).length + (costHeaders(told)["x-cost"] ?? "").length;
}

function measure(costs: CallCosts, attempts: readonly Attempt[], model: string): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let call = 0; call < callsPerRound; call += 1) sum += endCall(costs, attempts, model);
  const { user, system } = process.cpuUsage(before);
  if (sum === 0) throw new Error("Nothing was measured.");
  return (user + system) / callsPerRound;
}

let worst = 0;
for (const [name, engine, model] of cases) {
  const attempt = {
    engine,
    model,
    modelId: model,
    outcome: "ok",
    error: undefined,
    startUnixMs: 0,
    durationMs: 1,
  } as const;
  const added: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const without = measure(unpriced, [attempt], model);
    added.push(measure(priced, [attempt], model) - without);
  }
  const median = quantile(added, 0.5);
  worst = Math.max(worst, median);
  console.log(`${name}: ${median.toFixed(2)} µs (quietest round ${Math.min(...added).toFixed(2)} µs)`);
}
if (worst > mostMicroseconds) {
  console.error(`Pricing adds ${worst.toFixed(2)} µs to a call; at most ${mostMicroseconds} µs are allowed.`);
  process.exitCode = 1;
}
