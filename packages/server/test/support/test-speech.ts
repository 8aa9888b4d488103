/** The speech operations on a real HTTP server, with a test's engines. */
import { Value } from "typebox/value";
import type { LimitSettings } from "../../src/config/limits.ts";
import { routing } from "../../src/config/models.ts";
import { createLimiter } from "../../src/limits/limiter.ts";
import { MonthlyUsage } from "../../src/limits/monthly-usage.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Engine, SpeechModel } from "../../src/engines/engine.ts";
import { createRegistry } from "../../src/routing/registry.ts";
import { createListVoices } from "../../src/speech/list-voices.ts";
import { speechRoutes } from "../../src/speech/routes.ts";
import type { FinishedSpeech } from "../../src/finished-call.ts";
import { createSpeak } from "../../src/speech/speak.ts";
import { startTestHttp, testSecret } from "./test-http.ts";
import { testCosts } from "./test-costs.ts";

interface TestSpeechOptions {
  readonly engines: readonly Engine[];
  readonly limits?: LimitSettings["key"];
  readonly voices?: Readonly<Record<string, string[]>>;
  readonly maxInputCharacters?: number;
}

/** An engine with one speech model. */
export function speechEngine(name: string, model: SpeechModel): Engine {
  return {
    name,
    speech: () => model,
    listModels: async () => [{ id: name, created: 0, ownedBy: name }],
    close: async () => {},
  };
}

export async function startTestSpeech(options: TestSpeechOptions) {
  const finishedSpeeches: FinishedSpeech[] = [];
  const ledger = { add: async () => {}, read: async () => [] };
  const usage = await MonthlyUsage.open({ ledger, logger: silentLogger });
  const limiter = createLimiter({ defaults: { key: options.limits ?? {}, organization: {} }, usage });
  const engines = new Map(options.engines.map((engine) => [engine.name, engine]));
  const registry = await createRegistry({
    config: {
      engines: Object.fromEntries(
        [...engines.keys()].map((name) => [name, { type: "flite", preload: false, queue_limit: 1 }]),
      ),
      implicitEngines: {},
      models: {},
      aliases: { "tts-1": options.engines[0]!.name },
      routing: Value.Parse(routing, Value.Default(routing, {})),
      discovery: { enabled: true, refresh_interval_ms: 600_000 },
      speech: { voices: options.voices ?? {} },
    },
    createEngine: async (name) => engines.get(name)!,
    logger: silentLogger,
  });
  const speak = createSpeak({
    resolveModel: (scope, id) => registry.speech(id, scope.key),
    limiter,
    costs: testCosts(),
    maxInputCharacters: () => options.maxInputCharacters ?? 100_000,
    observe: (call) => {
      if (!call.refused) finishedSpeeches.push(call);
    },
  });
  const voices = createListVoices({
    speakers: (scope) => registry.speakers(scope.key),
    speaker: (scope, id) => ({ id, ownedBy: id, speech: registry.speech(id, scope.key) }),
  });
  const server = await startTestHttp({ routes: speechRoutes(speak, voices) });
  const headers = { authorization: `Bearer ${testSecret}`, "content-type": "application/json" };
  return {
    ...server,
    finishedSpeeches,
    get: (path: string) => fetch(`${server.url}${path}`, { headers }),
    post: (body: unknown, init: RequestInit = {}) =>
      fetch(`${server.url}/v1/audio/speech`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers,
        ...init,
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await registry.close();
      await usage.close();
    },
  };
}
