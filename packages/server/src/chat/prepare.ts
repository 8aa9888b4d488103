/**
 * From the body that a client sent to the request that an engine gets: `extra_body` is merged (the reference client
 * nests it, OpenAI's clients flatten it; the top level wins), the interface's `modality` becomes OpenAI's
 * `modalities`, and the rules between fields are checked.
 */
import { ChatRequest } from "../api/chat-request.ts";
import { showValue, validate } from "../api/validate.ts";
import { AppError } from "../errors.ts";

export interface PreparedChat {
  readonly request: ChatRequest;
  /** The top-level members in which `request` differs from the body; undefined: removed. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** @throws AppError invalid_request */
export function prepareChat(body: ChatRequest): PreparedChat {
  const changes: Record<string, unknown> = {};
  if ("extra_body" in body) {
    for (const [name, value] of Object.entries(body.extra_body ?? {})) {
      if (!(name in body) && name !== "__proto__") changes[name] = value;
    }
    changes["extra_body"] = undefined;
  }
  const modality = "modality" in changes ? changes["modality"] : body.modality;
  if (modality !== undefined) {
    if (!("modalities" in body) && !("modalities" in changes)) changes["modalities"] = modality;
    changes["modality"] = undefined;
  }
  const request = Object.keys(changes).length === 0 ? body : validate(ChatRequest, withChanges(body, changes));
  checkRules(request);
  return { request, changes };
}

function withChanges(body: ChatRequest, changes: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries({ ...body, ...changes }).filter(([, value]) => value !== undefined));
}

/** The rules that hold between fields, which a schema cannot say. */
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
          `${at}.content is ${showValue(message.content)}; expected text, unless the assistant's message has tool_calls.`,
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
        `${at}.tool_call_id is missing; a message of role "tool" names the tool call that it answers.`,
      );
    }
  }
  if (request.top_logprobs != null && request.logprobs !== true) {
    refuse(
      "top_logprobs",
      `top_logprobs is ${request.top_logprobs}, but logprobs is ${showValue(request.logprobs)}; it needs logprobs to be true.`,
    );
  }
  if (request.stream_options != null && request.stream !== true) {
    refuse(
      "stream_options",
      `stream_options is given, but stream is ${showValue(request.stream)}; it is only allowed when stream is true.`,
    );
  }
  if (choice != null && choice !== "none" && choice !== "auto" && (tools?.length ?? 0) === 0) {
    refuse("tool_choice", `tool_choice is ${showValue(choice)}, but there are no tools.`);
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
