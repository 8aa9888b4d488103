/**
 * Constrains the form of an answer (free text, JSON by a schema, or tool calls) token by token, and detects when free text
 * turns into a tool call.
 */
import { AppError } from "../../../errors.ts";
import { choice, type Grammar } from "../grammar/grammar.ts";
import { anyObject } from "../grammar/json-text.ts";
import { schemaGrammar } from "../grammar/json-schema.ts";
import { createMatcher, type Matcher, type MatcherState } from "../grammar/matcher.ts";
import type { Generation } from "../protocol.ts";
import type { ChatTemplate } from "./chat-template.ts";
import { isBareJson, toolCallsGrammar, triggerOf, type ToolFormat } from "./tool-format.ts";

export interface AnswerShape {
  /** Where tool calls may appear. */
  readonly toolFormat: ToolFormat | undefined;
  /** Text that turns free text into tool calls; undefined where the answer is held to a grammar from its start. */
  readonly trigger: string | undefined;
  /** Whether the trigger counts at the beginning of the answer only. */
  readonly triggerAtStart: boolean;
  /** Held to from the start; undefined for free text. */
  readonly fromStart: Grammar | undefined;
  /** Held to from the trigger's first byte on. */
  readonly fromTrigger: Grammar | undefined;
  /** What ends free text like a stop sequence, see `ChatTemplate`. */
  readonly turnEnd: string | undefined;
}

function contentGrammar({ format }: Generation): Grammar | undefined {
  if (format === "text") return undefined;
  if (format === "json_object") return anyObject;
  return schemaGrammar(format.schema, "response_format.json_schema.schema", true);
}

function toolsGrammar(generation: Generation, format: ToolFormat): Grammar {
  const { toolChoice } = generation;
  const named = typeof toolChoice === "object" ? toolChoice.name : undefined;
  const tools = generation.tools.flatMap(({ name, parameters, strict }, index) => {
    if (named !== undefined && name !== named) return [];
    const path = `tools[${index}].function.parameters`;
    const grammar =
      parameters === undefined ? anyObject : schemaGrammar({ type: "object", ...parameters }, path, strict);
    return [{ name, grammar }];
  });
  return toolCallsGrammar(format, tools, generation.parallelToolCalls && named === undefined);
}

/**
 * The requested shape.
 * @throws AppError unsupported_parameter or invalid_request for what the model or its template cannot do
 */
export function createAnswerShape(
  generation: Generation,
  { toolFormat, turnEnd }: Pick<ChatTemplate, "toolFormat" | "turnEnd">,
): AnswerShape {
  const content = contentGrammar(generation);
  const end = content === undefined && generation.rawPrompt === undefined ? turnEnd : undefined;
  const free = {
    toolFormat: undefined,
    trigger: undefined,
    triggerAtStart: false,
    fromTrigger: undefined,
    turnEnd: end,
  };
  if (generation.tools.length === 0) return { ...free, fromStart: content };
  const tools = toolsGrammar(generation, toolFormat);
  if (generation.toolChoice !== "auto") return { ...free, toolFormat, fromStart: tools };
  const trigger = triggerOf(toolFormat);
  if (content === undefined) {
    const triggerAtStart = isBareJson(trigger);
    return { ...free, toolFormat, trigger, triggerAtStart, fromStart: undefined, fromTrigger: tools };
  }
  if (isBareJson(trigger)) {
    throw new AppError(
      "unsupported_parameter",
      "response_format: this model writes tool calls as JSON, so they cannot be distinguished from a JSON response. Omit tools or response_format.",
      { param: "response_format" },
    );
  }
  return { ...free, toolFormat, trigger, triggerAtStart: true, fromStart: choice(content, tools) };
}

/** Follows one answer through its shape. */
export interface ShapeFollower {
  allows(bytes: Uint8Array): boolean;
  /** The bytes were chosen; they are allowed. */
  accept(bytes: Uint8Array): void;
  /** Allows the steps of further tokens, see `Matcher`. */
  renew(): void;
  /** Whether the answer may end here. */
  readonly mayEnd: boolean;
  /** Whether a grammar holds just now. */
  readonly held: boolean;
}

interface Place {
  readonly state: MatcherState | undefined;
  /** The last bytes of free text, as long as a trigger without its last byte. */
  readonly tail: Buffer;
  /** Whether something else than white space was written. */
  readonly begun: boolean;
}

interface Trigger {
  readonly bytes: Buffer;
  readonly atStart: boolean;
}

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte <= 0x20);

function follow(
  matcher: Matcher | undefined,
  place: Place,
  bytes: Uint8Array,
  trigger: Trigger | undefined,
): Place | undefined {
  if (place.state !== undefined) {
    const state = matcher!.advance(place.state, bytes);
    return state === undefined ? undefined : { ...place, state };
  }
  if (trigger === undefined) return place;
  const text = Buffer.concat([place.tail, bytes]);
  const index = text.indexOf(trigger.bytes);
  if (index === -1 || (trigger.atStart && (place.begun || !isBlank(text.subarray(0, index))))) {
    const tail = text.subarray(Math.max(0, text.length - trigger.bytes.length + 1));
    return { state: undefined, tail, begun: place.begun || !isBlank(text.subarray(0, text.length - tail.length)) };
  }
  const state = matcher!.advance(matcher!.start, text.subarray(index));
  return state === undefined ? undefined : { ...place, state };
}

export function createShapeFollower(shape: AnswerShape): ShapeFollower {
  const grammar = shape.fromStart ?? shape.fromTrigger;
  const matcher = grammar === undefined ? undefined : createMatcher(grammar);
  const trigger =
    shape.fromTrigger === undefined || shape.trigger === undefined
      ? undefined
      : { bytes: Buffer.from(shape.trigger), atStart: shape.triggerAtStart };
  const start = shape.fromStart === undefined ? undefined : matcher!.start;
  let place: Place = { state: start, tail: Buffer.alloc(0), begun: false };
  return {
    allows: (bytes) => follow(matcher, place, bytes, trigger) !== undefined,
    accept(bytes) {
      matcher?.renew();
      place = follow(matcher, place, bytes, trigger) ?? place;
    },
    renew: () => matcher?.renew(),
    get mayEnd() {
      return place.state === undefined || place.state.complete;
    },
    get held() {
      return place.state !== undefined;
    },
  };
}
