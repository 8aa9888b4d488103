/**
 * A model's own chat template (Jinja), rendered as the model was trained on it, and turned into tokens.
 * Text that comes from the caller never becomes a control token: where it spells one, it is marked before rendering
 * and those places are tokenised as plain text.
 */
import { Template } from "@huggingface/jinja";
import type { LlamaModel, Token } from "node-llama-cpp";
import { AppError } from "../../../errors.ts";
import type { Generation, GenerationTool, TemplateMessage } from "../protocol.ts";
import { findToolFormat, type ToolFormat } from "./tool-format.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A private-use character that stands inside a caller's text where it spells a control token. */
const mark = "\u{10F3A7}";

export interface ChatTemplate {
  /** How the model writes tool calls; undefined if its template has no tools. */
  readonly toolFormat: ToolFormat | undefined;
  /** The prompt's tokens. */
  tokenize(generation: Pick<Generation, "messages" | "tools" | "templateVariables">): Token[];
}

function describeTool({ name, description, parameters }: GenerationTool): Record<string, unknown> {
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
    },
  };
}

/** Templates print arguments as JSON, so they get them as objects; text that is no JSON stays text. */
function withParsedArguments(message: TemplateMessage): Record<string, unknown> {
  if (message.tool_calls === undefined) return { ...message };
  const calls = message.tool_calls.map((call) => {
    let parsed: unknown = call.function.arguments;
    try {
      parsed = JSON.parse(call.function.arguments);
    } catch {
      // The caller's own text, kept as it is.
    }
    return { ...call, function: { ...call.function, arguments: parsed } };
  });
  return { ...message, tool_calls: calls };
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapStrings(item, change)]));
}

function anyOf(texts: readonly string[]): RegExp {
  const alternatives = texts
    .toSorted((one, other) => other.length - one.length)
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(alternatives.length === 0 ? "(?!)" : alternatives.join("|"), "g");
}

const guarded = (text: string): string => {
  const [first = "", ...rest] = Array.from(text);
  return `${first}${mark}${rest.join("")}`;
};

/** The parts of a rendered prompt: plain text where a caller's text spelled a control token, template text elsewhere. */
function* partsOf(prompt: string, guardedTexts: RegExp): Generator<{ text: string; plain: boolean }> {
  let position = 0;
  for (const match of prompt.matchAll(guardedTexts)) {
    if (match.index > position) yield { text: prompt.slice(position, match.index), plain: false };
    yield { text: match[0].replace(mark, ""), plain: true };
    position = match.index + match[0].length;
  }
  if (position < prompt.length) yield { text: prompt.slice(position), plain: false };
}

/**
 * @throws AppError upstream_failed if the template is not one that can be read
 */
export function createChatTemplate(model: LlamaModel, vocabulary: Vocabulary, source: string): ChatTemplate {
  let template: Template;
  try {
    template = new Template(source);
  } catch (error) {
    throw new AppError("upstream_failed", "The model's chat template is not valid.", { cause: error });
  }
  const controlTexts = anyOf(vocabulary.controlTexts);
  const guardedTexts = anyOf(vocabulary.controlTexts.map(guarded));
  const guard = (text: string): string => text.replaceAll(controlTexts, guarded);

  const render = (messages: readonly Record<string, unknown>[], variables: Record<string, unknown>): string =>
    template.render({
      add_generation_prompt: true,
      bos_token: model.tokens.bosString ?? "",
      eos_token: model.tokens.eosString ?? "",
      ...variables,
      messages,
    });

  const toTokens = (prompt: string): Token[] => {
    const tokens = [...partsOf(prompt, guardedTexts)].flatMap(({ text, plain }) => model.tokenize(text, !plain));
    const { bos, shouldPrependBosToken } = model.tokens;
    return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens;
  };

  return {
    toolFormat: findToolFormat((messages) =>
      render(messages.map(withParsedArguments), {
        add_generation_prompt: false,
        tools: [describeTool({ name: "sounding_probe_tool", description: "", parameters: {}, strict: false })],
      }),
    ),
    tokenize({ messages, tools, templateVariables }) {
      const variables = {
        ...templateVariables,
        ...(tools.length === 0 ? {} : { tools: mapStrings(tools.map(describeTool), guard) }),
      };
      try {
        return toTokens(
          render(mapStrings(messages.map(withParsedArguments), guard) as Record<string, unknown>[], variables),
        );
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new AppError("invalid_request", `The model's chat template refuses these messages: ${reason}`, {
          param: "messages",
          cause: error,
        });
      }
    },
  };
}
