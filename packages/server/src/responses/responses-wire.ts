/** OpenAI's Responses API as a wire of chats. https://platform.openai.com/docs/api-reference/responses */
import type { ResponseRequest } from "../api/responses-request.ts";
import type { WireFormat } from "../chat/wire.ts";
import type { WireEvent } from "../engines/wire.ts";
import { embeddedError } from "../engines/upstream-http/upstream-error.ts";
import { AppError, toErrorBody } from "../errors.ts";
import { parseObject } from "../json-object.ts";
import { pricedAnswer } from "../pricing/call-costs.ts";
import { describeRequest } from "./describe-request.ts";
import { fromChunks } from "./from-chunks.ts";
import { fromCompletion } from "./from-completion.ts";
import { createReader, readAnswer } from "./read-answer.ts";
import { parseResponseEvent } from "./response-event.ts";
import { toChatRequest } from "./to-chat-request.ts";

const lastEvents = new Set(["response.completed", "response.incomplete"]);

export const responsesWire: WireFormat<ResponseRequest> = {
  wire: "responses",
  forwardedHeaders: ["openai-beta"],
  toChatRequest,
  describe: describeRequest,
  fromCompletion,
  fromChunks,
  readAnswer,
  createReader,
  withModel(event, modelId) {
    const parsed = parseResponseEvent(event);
    if (parsed === undefined || parsed.response["model"] === modelId) return event;
    return parsed.with({ ...parsed.response, model: modelId });
  },
  hasFinalUsage: isLast,
  withCost(event, cost) {
    const parsed = cost === undefined ? undefined : parseResponseEvent(event);
    return parsed?.with(pricedAnswer(parsed.response, cost)) ?? event;
  },
  isLast,
  errorIn,
  errorEvent(error, sequence) {
    const { code, message, param } = toErrorBody(error).error;
    return {
      name: "error",
      data: JSON.stringify({ type: "error", sequence_number: sequence, code, message, param }),
    };
  },
};

function isLast(event: WireEvent): boolean {
  return lastEvents.has(event.name ?? parseResponseEvent(event)?.type ?? "");
}

function errorIn(event: WireEvent): AppError | undefined {
  const failed = parseResponseEvent(event);
  if (failed?.type === "response.failed") return embeddedError(failed.response) ?? failedWithoutReason();
  if (event.name !== "error" && !(event.name === undefined && event.data.includes('"error"'))) return undefined;
  const parsed = parseObject(event.data);
  if (parsed?.["type"] !== "error") return undefined;
  return embeddedError({ error: parsed["error"] ?? parsed }) ?? failedWithoutReason();
}

function failedWithoutReason(): AppError {
  return new AppError("upstream_failed", "The engine failed without a message.");
}
