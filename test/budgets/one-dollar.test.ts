/** What a newcomer does: see what a call cost, give a key one dollar, watch a stream be refused, find who spent it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { childEnvironment } from "../support/child-environment.ts";
import { command } from "../support/command.ts";
import { startServer, untilTelemetryReady } from "../support/running-server.ts";

const run = promisify(execFile);
const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
const head = { id: "chatcmpl-1", created: 1, model: "assistant" };
const message = { role: "assistant", content: "Yes." };

test("a dollar of a key is spent, a stream is refused, and the spend is found by user and model", async () => {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(
    await startScriptedUpstream(async (exchange) => {
      if ((exchange.json as { stream?: boolean }).stream !== true) {
        const choices = [{ index: 0, message, finish_reason: "stop" }];
        return exchange.answer({ ...head, object: "chat.completion", choices, usage });
      }
      const chunk = { ...head, object: "chat.completion.chunk" };
      exchange.beginEvents();
      await exchange.sendEvents(
        { ...chunk, choices: [{ index: 0, delta: message, finish_reason: "stop" }] },
        { ...chunk, choices: [], usage },
        "[DONE]",
      );
      exchange.end();
    }),
  );
  const server = stack.use(
    await startServer(
      `engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [assistant] } }
telemetry: { token_prices: { assistant: { input: 2000, output: 2000 } } }
`,
      { telemetry: true },
    ),
  );
  await untilTelemetryReady(server);
  const sounding = async (...args: readonly string[]): Promise<string> => {
    const env = {
      ...childEnvironment,
      SOUNDING_BASE_URL: server.url,
      SOUNDING_API_KEY: server.key,
      SOUNDING_ADMIN_KEY: server.operatorKey,
    };
    return (await run(process.execPath, [command, ...args], { env })).stdout;
  };
  const chat = { model: "assistant", user: "ada", max_tokens: 100, messages: [{ role: "user", content: "Hello?" }] };
  const stream = { ...chat, stream: true, stream_options: { include_usage: true } };
  const call = (body: object): Promise<Response> => server.call("/v1/chat/completions", body);

  const limited = await sounding("budget", "create", "trial", "-o", "default", "--amount", "1", "--key", "first key");
  assert.match(limited, /trial/);

  const answered = await call(chat);
  assert.equal(answered.headers.get("x-cost"), "0.4");
  assert.equal(((await answered.json()) as { usage: { cost: number } }).usage.cost, 0.4);
  assert.match(await (await call(stream)).text(), /"cost":0\.4,/);

  const refused = await call(stream);
  assert.equal(refused.status, 429);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "insufficient_quota");
  assert.match(error.message, /^The budget "trial" has 0\.2 USD of 1 USD left, .* It starts again at \d{4}-/);

  const read = async () =>
    JSON.parse(await sounding("spend", "--by", "user,model", "--json")) as {
      totals: { calls: number }[];
      data: { group: object; cost: string; calls: number }[];
    };
  // The spans of calls are written a moment later.
  let spend = await read();
  while ((spend.totals[0]?.calls ?? 0) < 3) spend = await read();
  assert.deepEqual(
    spend.data.map(({ calls, cost, group }) => ({ calls, cost, group })),
    [{ calls: 3, cost: "0.8", group: { user: "ada", model: "assistant" } }],
  );
  const [shown, used, traces] = await Promise.all([
    sounding("spend", "--by", "user,model"),
    sounding("budget", "show", "trial"),
    sounding("traces"),
  ]);
  assert.match(shown, /ada +assistant/);
  assert.match(used, /0\.8/);
  assert.match(traces, /0\.4/);
});
