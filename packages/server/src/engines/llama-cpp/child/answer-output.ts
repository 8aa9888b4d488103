/** Turns an answer's tokens into events: text, tool calls and their arguments, stop sequences. */
import { randomUUID } from "node:crypto";
import type { GenerationEvent, TokenLogprob } from "../protocol.ts";
import type { AnswerShape } from "./answer-shape.ts";
import { createTextOutput, type TextOutput } from "./text-output.ts";
import { createToolCallReader, type ToolCallReader } from "./tool-call-reader.ts";

export interface AnswerOutput {
  push(bytes: Uint8Array, logprob: TokenLogprob | undefined): GenerationEvent[];
  /** What was held back, when the answer has ended. */
  end(): GenerationEvent[];
  /** Whether a stop sequence was reached. */
  readonly stopped: boolean;
  /** Whether at least one tool call is complete. */
  readonly calledTool: boolean;
}

interface OutputSettings {
  readonly choice: number;
  readonly shape: AnswerShape;
  readonly stop: readonly string[];
  readonly toolNames: readonly string[];
}

export function createAnswerOutput({ choice, shape, stop, toolNames }: OutputSettings): AnswerOutput {
  const { trigger, triggerAtStart, toolFormat } = shape;
  const anywhere = trigger === undefined || triggerAtStart ? stop : [...stop, trigger];
  const text: TextOutput = createTextOutput(anywhere, triggerAtStart ? trigger : undefined);
  let reader: ToolCallReader | undefined;
  const toolText = new TextDecoder("utf-8", { ignoreBOM: true });
  if (toolFormat !== undefined && trigger === undefined) reader = createToolCallReader(toolFormat, toolNames);
  let stopped = false;

  const readTools = (piece: string): GenerationEvent[] =>
    (reader?.push(piece) ?? []).map((part) =>
      part.kind === "call"
        ? {
            kind: "tool_call",
            choice,
            index: part.index,
            id: `call_${randomUUID().replaceAll("-", "")}`,
            name: part.name,
          }
        : { kind: "arguments", choice, index: part.index, text: part.text },
    );

  const textEvent = (piece: string, logprobs: TokenLogprob[]): GenerationEvent[] =>
    piece === "" && logprobs.length === 0
      ? []
      : [{ kind: "text", choice, text: piece, ...(logprobs.length === 0 ? {} : { logprobs }) }];

  return {
    push(bytes, logprob) {
      if (reader !== undefined) return readTools(toolText.decode(bytes, { stream: true }));
      const step = text.push(bytes, logprob);
      const events = textEvent(step.text, step.logprobs);
      if (step.stopped === undefined) return events;
      if (toolFormat === undefined || step.stopped.by !== trigger) {
        stopped = true;
        return events;
      }
      reader = createToolCallReader(toolFormat, toolNames);
      return [...events, ...readTools(trigger + step.stopped.rest)];
    },
    end() {
      if (reader !== undefined || stopped) return [];
      const rest = text.end();
      return textEvent(rest.text, rest.logprobs);
    },
    get stopped() {
      return stopped;
    },
    get calledTool() {
      return (reader?.complete ?? 0) > 0;
    },
  };
}
