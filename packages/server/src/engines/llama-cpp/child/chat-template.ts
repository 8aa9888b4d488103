/**
 * Renders a model's own chat template (Jinja). A caller's text never becomes a control token: where it spells one, it is
 * marked before rendering and tokenized as plain text afterwards.
 */
import { Template } from "@huggingface/jinja";
import { AppError } from "../../../errors.ts";
import type { Generation, GenerationTool, TemplateMessage } from "../protocol.ts";
import { controlTextPattern, controlTokenGuard } from "./control-tokens.ts";
import { genericToolFormat, usesTools, withGenericTools } from "./generic-tools.ts";
import { findToolFormat, type ToolFormat } from "./tool-format.ts";

/** What rendering needs to know of a model. Plain data, so that a worker thread can get it. */
export interface TemplateSource {
  readonly template: string;
  readonly bos: string;
  readonly eos: string;
  readonly controlTexts: readonly string[];
}

export interface ChatTemplate {
  /** How the model writes tool calls. */
  readonly toolFormat: ToolFormat;
  /**
   * What follows an answer, as text: a model that was not trained with the template writes it instead of ending. Undefined if it is
   * a control token, or not distinct.
   */
  readonly turnEnd: string | undefined;
  /**
   * The prompt, in which callers' text that spells a control token is marked.
   * @throws AppError invalid_request
   */
  render(generation: Pick<Generation, "messages" | "tools" | "templateVariables">): string;
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

/** Templates print arguments as JSON, so they get them as objects; text that is not JSON stays text. */
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

/** Undefined if the template refuses the messages. */
type TryRender = (messages: readonly Record<string, unknown>[]) => string | undefined;

const probe = "sounding_probe_content";
const question = { role: "user", content: "sounding_probe_question" };

function rendersSystem(render: TryRender): boolean {
  return render([{ role: "system", content: probe }, question])?.includes(probe) === true;
}

/** Fewer signs may be in any answer. */
const shortestTurnEnd = 3;

function findTurnEnd(render: TryRender, controlTexts: readonly string[]): string | undefined {
  const next = "sounding_probe_next";
  const text = render([question, { role: "assistant", content: probe }, { role: "user", content: next }]);
  if (text === undefined) return undefined;
  const start = text.indexOf(probe) + probe.length;
  const between = text.slice(start, Math.max(start, text.indexOf(next, start)));
  if (controlTexts.some((control) => control !== "" && between.includes(control))) return undefined;
  const end = /^\s*(<[^>\s]+>|\[\/?[A-Z_]+\])/.exec(between)?.[1] ?? between.trimEnd();
  return end.trim().length < shortestTurnEnd ? undefined : end;
}

/**
 * @throws AppError upstream_failed if the template is not one that can be read
 */
export function createChatTemplate({ template: text, bos, eos, controlTexts }: TemplateSource): ChatTemplate {
  let template: Template;
  try {
    template = new Template(text);
  } catch (error) {
    throw new AppError("upstream_failed", "The model's chat template is not valid.", { cause: error });
  }
  const controlText = controlTextPattern(controlTexts);
  const guard = (plain: string): string => plain.replaceAll(controlText, controlTokenGuard);

  const render = (messages: readonly Record<string, unknown>[], variables: Record<string, unknown>): string =>
    template.render({ add_generation_prompt: true, bos_token: bos, eos_token: eos, ...variables, messages });

  const ownFormat = findToolFormat((messages) =>
    render(messages.map(withParsedArguments), {
      add_generation_prompt: false,
      tools: [describeTool({ name: "sounding_probe_tool", description: "", parameters: {}, strict: false })],
    }),
  );
  const tryRender: TryRender = (messages) => {
    try {
      return render(messages, { add_generation_prompt: false });
    } catch {
      return undefined;
    }
  };
  const hasSystem = rendersSystem(tryRender);

  return {
    toolFormat: ownFormat ?? genericToolFormat,
    turnEnd: findTurnEnd(tryRender, controlTexts),
    render({ messages: given, tools: wanted, templateVariables }) {
      const isGeneric = ownFormat === undefined && usesTools(given, wanted);
      const messages = isGeneric ? withGenericTools(given, { tools: wanted.map(describeTool), hasSystem }) : given;
      const tools = isGeneric ? [] : wanted;
      const variables = {
        ...templateVariables,
        ...(tools.length === 0 ? {} : { tools: mapStrings(tools.map(describeTool), guard) }),
      };
      try {
        return render(mapStrings(messages.map(withParsedArguments), guard) as Record<string, unknown>[], variables);
      } catch (error) {
        const reason = error instanceof Error ? error.message.slice(0, 500) : String(error);
        throw new AppError("invalid_request", `The model's chat template rejects these messages: ${reason}`, {
          param: "messages",
          cause: error,
        });
      }
    },
  };
}
