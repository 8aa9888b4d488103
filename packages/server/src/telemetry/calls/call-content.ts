/** Measures the content of a queued call, and removes it. */
import type { FinishedCall, FinishedChat } from "../../finished-call.ts";

/** UTF-16 code units of prompts and answers; 0 if none were kept. */
export function contentLength(call: FinishedCall): number {
  switch (call.kind) {
    case "chat":
      return call.answer?.choices === undefined ? 0 : chatLength(call);
    case "speech":
      return call.input?.length ?? 0;
    case "transcription":
      return call.text?.length ?? 0;
    case "embeddings":
      return 0;
  }
}

/** The call without its prompts and answers, so that waiting calls do not hold on to them. */
export function withoutContent(call: FinishedCall): FinishedCall {
  switch (call.kind) {
    case "chat": {
      const { answer, request } = call;
      const { id, model, finishReasons = [] } = answer ?? {};
      return {
        ...call,
        request: { ...request, messages: [] },
        answer: answer === undefined ? undefined : { id, model, finishReasons, choices: undefined },
      };
    }
    case "speech":
      return { ...call, input: undefined };
    case "transcription":
      return { ...call, text: undefined };
    case "embeddings":
      return call;
  }
}

/** Of the prompt as well, since it is kept for as long as the answer is. */
function chatLength({ request, answer }: FinishedChat): number {
  let sum = 0;
  for (const { content } of request.messages) {
    if (typeof content === "string") sum += content.length;
    else for (const part of content ?? []) sum += Object.values(part).reduce<number>(addLength, 0);
  }
  for (const choice of answer?.choices ?? []) sum += choice.text.length;
  return sum + 1;
}

function addLength(sum: number, member: unknown): number {
  return sum + (typeof member === "string" ? member.length : 0);
}
