/** The usage of a transcription, in OpenAI's shape with the cost. https://platform.openai.com/docs/api-reference/audio/json-object */
import type { TranscriptionUsageMembers } from "../api/transcription.ts";
import { withCost } from "../pricing/call-costs.ts";
import type { TranscriptionCost } from "./call-record.ts";

/** Nothing if the cost is not told. */
export function usageMembers(told: TranscriptionCost | undefined): TranscriptionUsageMembers {
  if (told === undefined) return {};
  const { cost, usage } = told;
  const { seconds = 0, tokens } = usage;
  if (tokens === undefined) return { usage: withCost({ type: "duration" as const, seconds }, cost) };
  const { audioInput, input, output } = tokens;
  return {
    usage: withCost(
      {
        type: "tokens" as const,
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
        input_token_details: { audio_tokens: audioInput, text_tokens: Math.max(0, input - audioInput) },
      },
      cost,
    ),
  };
}
