/** The chat operation on a real HTTP server, with a scripted model. */
import type { ChatParts } from "../../src/chat/admit-chat.ts";
import { createChat } from "../../src/chat/complete.ts";
import { chatRoutes } from "../../src/chat/routes.ts";
import type { FinishedChat } from "../../src/finished-call.ts";
import type { LimitSettings } from "../../src/config/limits.ts";
import type { Guardrails } from "../../src/guardrails/guardrails.ts";
import type { HttpSettings } from "../../src/http/server.ts";
import { createLimiter } from "../../src/limits/limiter.ts";
import { MonthlyUsage } from "../../src/limits/monthly-usage.ts";
import { silentLogger } from "../../src/logger.ts";
import type { ChatModel } from "../../src/engines/engine.ts";
import type { CallCosts } from "../../src/pricing/call-costs.ts";
import { testCosts } from "./test-costs.ts";
import { startTestHttp, testSecret } from "./test-http.ts";

interface TestChatOptions {
  readonly model: ChatModel;
  readonly limits?: LimitSettings["key"];
  readonly settings?: Partial<HttpSettings>;
  readonly keepsContent?: ChatParts["keepsContent"];
  readonly guardrails?: Guardrails;
  readonly costs?: CallCosts;
}

export async function startTestChat({
  model,
  limits = {},
  settings = {},
  keepsContent = () => false,
  guardrails,
  costs,
}: TestChatOptions) {
  const finishedChats: FinishedChat[] = [];
  const refusedChats: FinishedChat[] = [];
  const usage = await MonthlyUsage.open({
    ledger: { add: async () => {}, read: async () => [] },
    logger: silentLogger,
  });
  const limiter = createLimiter({ defaults: { key: limits, organization: {} }, usage });
  const chat = createChat({
    resolveModel: () => model,
    guardFor: (scope, modelId) => guardrails?.forCall(scope, modelId),
    limiter,
    costs: costs ?? testCosts(),
    observe: (call) => (call.refused ? refusedChats : finishedChats).push(call),
    keepsContent,
  });
  const server = await startTestHttp({ routes: chatRoutes(chat), settings });
  return {
    ...server,
    finishedChats,
    refusedChats,
    post: (body: unknown, init: RequestInit = {}) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/json" },
        ...init,
      }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await usage.close();
    },
  };
}

/** The JSON values of a stream's `data:` frames, `[DONE]` as a string. */
export async function readFrames(response: Response): Promise<unknown[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "");
  return frames.map((frame) => {
    const data = frame.replace(/^(: ping\n)*data: /, "");
    return data === "[DONE]" ? data : (JSON.parse(data) as unknown);
  });
}
