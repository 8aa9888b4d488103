/**
 * Applies guardrails to an answer, batch or streaming. Text is released once it was checked. Only text and tool calls are
 * released: anything else, such as log probabilities or audio, could reveal withheld text.
 */
import type { ChatChoice, ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import { GuardedChoice, type AnswerCheck } from "./answer-choice.ts";
import { checkTexts, type TextMapping } from "./check-texts.ts";
import { mapJsonTexts } from "./json-texts.ts";
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";

/** Fails as `Checker.judge`. */
export async function guardCompletion(completion: ChatCompletion, check: AnswerCheck): Promise<ChatCompletion> {
  const choices: ChatChoice[] = [];
  for (const choice of completion.choices) choices.push(await guardChoice(choice, check));
  return { ...completion, choices };
}

async function guardChoice(choice: ChatChoice, { checkers, ...check }: AnswerCheck): Promise<ChatChoice> {
  const { index, finish_reason: reason } = choice;
  let message = judgeable(choice.message);
  for (const checker of checkers) {
    const { blocked, value } = await checkTexts(message, mapMessage, { ...check, checker, side: "output" });
    if (blocked !== undefined) {
      return { index, message: { role: "assistant", content: null }, finish_reason: "content_filter" };
    }
    message = value;
  }
  return { index, message, finish_reason: reason };
}

type Message = ChatChoice["message"];

/** The members that can be judged. */
function judgeable(message: Message): Message {
  const texts = Object.entries(message).filter(([, value]) => typeof value === "string" || value === null);
  return {
    ...Object.fromEntries(texts),
    role: message.role,
    content: message.content,
    ...(message.tool_calls === undefined ? {} : { tool_calls: message.tool_calls }),
  };
}

async function mapMessage(message: Message, mapping: TextMapping): Promise<Message> {
  const { map, yielder } = mapping;
  const mapped = Object.entries(message).map(([name, value]): [string, unknown] => [
    name,
    name !== "role" && typeof value === "string" ? map(value) : value,
  ]);
  const whole = Object.fromEntries(mapped) as Message;
  if (message.tool_calls === undefined) return whole;
  const calls: NonNullable<Message["tool_calls"]> = [];
  for (const call of message.tool_calls) {
    const text = await mapJsonTexts(call.function.arguments, mapping);
    calls.push({ ...call, function: { ...call.function, arguments: text } });
    if (yielder.isDue()) await yielder.yield();
  }
  return { ...whole, tool_calls: calls };
}

/** Choices of buffered chunks are checked without yielding, up to this many. */
const choicesPerTurn = 64;

export interface StreamCheck extends AnswerCheck {
  /** The requested number of choices. */
  readonly choiceCount: number;
  /** Called for each chunk from the engine that is withheld completely. */
  onWithheld(): void;
}

/** The released chunks. Ends early, and cancels the engine's work, when no choice can release more. */
export async function* guardStream(
  chunks: AsyncIterable<ChatCompletionChunk>,
  check: StreamCheck,
): AsyncGenerator<ChatCompletionChunk, void, undefined> {
  const choices = new Map<number, GuardedChoice>();
  let last: ChatCompletionChunk | undefined;
  const yielder = new CooperativeYield();
  let judged = 0;
  for await (const chunk of chunks) {
    last = chunk;
    const out: ChatCompletionChunk["choices"] = [];
    for (const choice of chunk.choices) {
      let guarded = choices.get(choice.index);
      if (guarded === undefined) choices.set(choice.index, (guarded = new GuardedChoice(choice.index, check)));
      if (!guarded.isOver) out.push(...(await guarded.push(choice)));
      judged += 1;
      if (judged % choicesPerTurn === 0) await yielder.yield();
    }
    if (out.length === 0 && chunk.usage == null && chunk.choices.length > 0) check.onWithheld();
    else yield* asChunks(chunk, out);
    const all = [...choices.values()];
    const isSilent = all.length >= check.choiceCount && all.every(({ isOver }) => isOver);
    if (isSilent && all.some(({ isBlocked }) => isBlocked) && chunk.choices.every(isRunning)) return;
  }
  if (last === undefined) return;
  for (const choice of choices.values()) yield* withChoices(last, await choice.end());
}

/** Whether the engine continues; if it has ended, its usage is still to come. */
function isRunning({ finish_reason: reason }: ChatCompletionChunk["choices"][number]): boolean {
  return reason === null;
}

/** What is released of a chunk; usage comes last. */
function* asChunks(
  chunk: ChatCompletionChunk,
  choices: ChatCompletionChunk["choices"],
): Generator<ChatCompletionChunk, void, undefined> {
  yield* withChoices(chunk, choices);
  if (chunk.usage != null || chunk.choices.length === 0) yield { ...chunk, choices: [] };
}

/** One chunk for each choice, so that a chunk has never two pieces of one choice. */
function* withChoices(
  chunk: ChatCompletionChunk,
  choices: ChatCompletionChunk["choices"],
): Generator<ChatCompletionChunk, void, undefined> {
  for (const choice of choices) yield { ...chunk, choices: [choice], usage: null };
}
