/**
 * Turns the client's body into the request for an engine: merges `extra_body` (the AI Refinery SDK nests it, OpenAI's
 * clients flatten it; the top level wins), renames the alias `modality` to OpenAI's `modalities`, and checks the rules
 * between fields.
 */
import { isDeepStrictEqual } from "node:util";
import { ChatRequest } from "../api/chat-request.ts";
import { showValue, validate } from "../api/validate.ts";
import { AppError } from "../errors.ts";

export interface PreparedChat {
  /** The organization that the request names; must be checked against the key. */
  readonly organizationId: string | null | undefined;
  readonly request: ChatRequest;
  /** Top-level members of `request` that differ from the body; undefined: removed. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** @throws AppError invalid_request */
export function prepareChat(body: ChatRequest): PreparedChat {
  // No prototype, so that no member name from a client has a special meaning.
  const changes = Object.create(null) as Record<string, unknown>;
  if (Object.hasOwn(body, "extra_body")) {
    for (const [name, value] of Object.entries(body.extra_body ?? {})) {
      if (!Object.hasOwn(body, name)) changes[name] = value;
    }
    changes["extra_body"] = undefined;
  }
  const modality = changes["modality"] ?? body.modality;
  if (Object.hasOwn(changes, "modality") || body.modality !== undefined) {
    if (!Object.hasOwn(body, "modalities") && !Object.hasOwn(changes, "modalities")) changes["modalities"] = modality;
    else refuseOther(modality, changes["modalities"] ?? body.modalities);
    changes["modality"] = undefined;
  }
  const merged = Object.keys(changes).length === 0 ? body : validate(ChatRequest, withChanges(body, changes));
  checkRules(merged);
  const { organization_id: organizationId, ...request } = merged;
  if (organizationId === undefined) return { request: merged, changes, organizationId };
  // It is meant for Sounding, not for the engine.
  changes["organization_id"] = undefined;
  return { request, changes, organizationId };
}

/** Refuses contradicting values of the two names of one parameter: one of them would be dropped. */
function refuseOther(modality: unknown, modalities: unknown): void {
  if (modality == null || isDeepStrictEqual(modality, modalities)) return;
  refuse(
    "modality",
    `modality is ${showValue(modality)}, but modalities is ${showValue(modalities)}; both name the same parameter, so send only one.`,
  );
}

function withChanges(body: ChatRequest, changes: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries({ ...body, ...changes }).filter(([, value]) => value !== undefined));
}

/** Checks rules between fields, which a schema cannot express. */
function checkRules(request: ChatRequest): void {
  const { messages, tools, tool_choice: choice } = request;
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const hasContent = message.content != null;
    if (message.role === "assistant") {
      if (
        !hasContent &&
        (message.tool_calls?.length ?? 0) === 0 &&
        !("function_call" in message) &&
        !("refusal" in message) &&
        !("audio" in message)
      ) {
        refuse(
          `${at}.content`,
          `${at}.content is ${showValue(message.content)}; expected text, unless it is an assistant message with tool_calls.`,
        );
      }
    } else if (!hasContent) {
      refuse(
        `${at}.content`,
        `${at}.content is ${showValue(message.content)}; expected a string or an array of parts.`,
      );
    }
    if (message.role === "tool" && message.tool_call_id === undefined) {
      refuse(
        `${at}.tool_call_id`,
        `${at}.tool_call_id is missing; a message with role "tool" must name the tool call that it responds to.`,
      );
    }
  }
  if (request.top_logprobs != null && request.logprobs !== true) {
    refuse(
      "top_logprobs",
      `top_logprobs is ${request.top_logprobs}, but logprobs is ${showValue(request.logprobs)}; set logprobs to true.`,
    );
  }
  if (request.stream_options != null && request.stream !== true) {
    refuse(
      "stream_options",
      `stream_options is set, but stream is ${showValue(request.stream)}; it is only allowed when stream is true.`,
    );
  }
  if (choice != null && choice !== "none" && choice !== "auto" && (tools?.length ?? 0) === 0) {
    refuse("tool_choice", `tool_choice is ${showValue(choice)}, but tools is empty.`);
  }
  if (
    typeof choice === "object" &&
    choice !== null &&
    !tools?.some((tool) => tool.function.name === choice.function.name)
  ) {
    refuse(
      "tool_choice.function.name",
      `tool_choice.function.name is ${showValue(choice.function.name)}; expected one of ${(tools ?? []).map((tool) => showValue(tool.function.name)).join(", ")}.`,
    );
  }
}

function refuse(param: string, message: string): never {
  throw new AppError("invalid_request", message, { param });
}
