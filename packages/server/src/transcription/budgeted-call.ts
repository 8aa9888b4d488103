/** What budgets have to know of a transcription. The length of a recording is known only after it was received. */
import { callerOf, type CallerFields } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { BudgetedCall } from "../limits/budgets/budget.ts";
import { noTokens } from "../pricing/token-usage.ts";
import type { PreparedTranscription } from "./prepare.ts";

/** Speech is rarely compressed to fewer. */
const leastBytesPerSecond = 4_000;
/** Of audio, at vendors that count its tokens, and as many of text. */
const tokensPerSecond = 40;

/** @param maxSeconds of recordings that are accepted */
export function budgetedCall(
  { model }: PreparedTranscription,
  input: Pick<RouteInput<unknown>, CallerFields>,
  maxSeconds: number,
): BudgetedCall {
  const bytes = Number(input.headers["content-length"] ?? Infinity);
  const inputSeconds = Math.min(maxSeconds, bytes / leastBytesPerSecond);
  const tokens = Math.ceil(inputSeconds * tokensPerSecond);
  const { endUser, tags } = callerOf(input);
  return {
    model,
    endUser,
    tags,
    usage: {
      inputSeconds,
      tokens: { ...noTokens, inputTokens: tokens, audioInputTokens: tokens, outputTokens: tokens },
    },
  };
}
