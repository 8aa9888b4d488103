/** Reads what a transcription used. https://platform.openai.com/docs/api-reference/audio/json-object */
import { isObject, wholeNumber } from "../../json-object.ts";
import type { TranscriptionUsage } from "../engine.ts";

/** @param answer the response, or the last event of a stream; undefined if it tells no usage */
export function transcriptionUsage(answer: unknown): TranscriptionUsage | undefined {
  const usage = isObject(answer) ? answer["usage"] : undefined;
  if (!isObject(usage)) return undefined;
  const { seconds } = usage;
  if (typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0) return { seconds };
  const input = wholeNumber(usage["input_tokens"]);
  if (input === undefined) return undefined;
  const details = usage["input_token_details"];
  const audioInput = isObject(details) ? (wholeNumber(details["audio_tokens"]) ?? 0) : 0;
  return { tokens: { input, audioInput, output: wholeNumber(usage["output_tokens"]) ?? 0 } };
}
