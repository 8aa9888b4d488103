/** Requests one response and prints it while it is generated. */
import type { AsyncSounding, ChatCompletionParams, ChatMessage } from "@sounding/client";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable, write } from "../output.ts";
import type { CommandIo } from "../command.ts";

/** The parameters of all responses of one run. */
export interface AnswerSettings {
  readonly model: string;
  readonly stream: boolean;
  readonly parameters: Partial<ChatCompletionParams>;
}

export interface WrittenAnswer {
  readonly text: string;
  /** Why the response is incomplete; undefined if it is complete. */
  readonly cutBecause: string | undefined;
}

/**
 * Writes the response to stdout, ending in a line feed. `onText` receives each piece, so that a cancelled response is
 * not lost.
 */
export async function writeAnswer(
  client: AsyncSounding,
  { model, stream, parameters, messages }: AnswerSettings & { readonly messages: readonly ChatMessage[] },
  { io, signal, onText }: { io: CommandIo; signal: AbortSignal; onText?: (text: string) => void },
): Promise<WrittenAnswer> {
  const params = { ...parameters, model, messages: [...messages] };
  let text = "";
  let finishReason: string | null = null;
  const take = async (piece: string): Promise<void> => {
    text += piece;
    onText?.(piece);
    await write(io.stdout, io.isTTY.stdout ? printable(piece) : piece);
  };
  try {
    if (stream) {
      for await (const chunk of await client.chat.completions.create({ ...params, stream: true }, { signal })) {
        const choice = chunk.choices.find(({ index }) => index === 0);
        finishReason = choice?.finish_reason ?? finishReason;
        const piece = choice?.delta.content ?? choice?.delta.refusal ?? "";
        if (piece !== "") await take(piece);
      }
    } else {
      const { choices } = await client.chat.completions.create({ ...params, stream: false }, { signal });
      finishReason = choices[0]?.finish_reason ?? null;
      await take(choices[0]?.message.content ?? choices[0]?.message.refusal ?? "");
    }
  } finally {
    if (text !== "" && !text.endsWith("\n")) await write(io.stdout, "\n");
  }
  return { text, cutBecause: finishReason === null ? undefined : cutReasons[finishReason] };
}

/** The requested model, or the first one that the server lists. */
export async function chooseModel(
  client: AsyncSounding,
  asked: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (asked !== undefined) return asked;
  const { data } = await client.models.list({ signal });
  const first = data[0]?.id;
  if (first === undefined) throw new CliError("the server has no chat models", exitCodes.notFound);
  return first;
}

const cutReasons: Readonly<Record<string, string>> = {
  length: "the response was cut off at the token limit",
  content_filter: "the response was cut off by a content filter",
};
