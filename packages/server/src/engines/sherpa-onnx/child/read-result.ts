/** Parses the library's results: JSON, except for invalid numbers and control characters in strings. */
import type { RecognizedPart, Recognition } from "../protocol.ts";

/** The member `start_time` is that of streams: seconds from the beginning. */
interface ResultJson {
  readonly text?: string;
  readonly tokens?: readonly string[];
  readonly timestamps?: readonly number[];
  readonly durations?: readonly number[];
  readonly ys_log_probs?: readonly (number | null)[];
  readonly ys_probs?: readonly (number | null)[];
  readonly lang?: string;
  readonly start_time?: number;
  readonly segment_timestamps?: readonly number[];
  readonly segment_durations?: readonly number[];
  readonly segment_texts?: readonly string[];
}

/**
 * @param seconds of audio; the library lets a part that the model did not end last until there
 * @throws SyntaxError for an invalid result
 */
export function readResult(json: string, seconds = Infinity): Recognition & { readonly origin: number } {
  const result = JSON.parse(repaired(json)) as ResultJson;
  const tokens = result.tokens ?? [];
  // Some models return times and probabilities of tokens that are not in the text.
  const ifOneEach = <T>(values: readonly T[] | undefined): readonly T[] =>
    values?.length === tokens.length ? values : [];
  return {
    text: result.text ?? "",
    tokens,
    startTimes: ifOneEach(result.timestamps),
    durations: ifOneEach(result.durations),
    logProbabilities: ifOneEach(result.ys_log_probs ?? result.ys_probs),
    language: result.lang ?? "",
    origin: result.start_time ?? 0,
    parts: readParts(result, seconds),
  };
}

/** Seconds from one of Whisper's times to the next. */
const timeStep = 0.02;

function readParts(result: ResultJson, seconds: number): RecognizedPart[] {
  const { segment_texts: texts = [], segment_timestamps: starts = [], segment_durations: lengths = [] } = result;
  return texts.flatMap((text, index) => {
    const [start, length] = [starts[index], lengths[index]];
    if (start === undefined || length === undefined) return [];
    // Without the alignment of words, a part that the model did not end has no length.
    const isEnded = length > 0 && start + length < seconds - timeStep;
    return [{ text, start, end: isEnded ? start + length : undefined }];
  });
}

function repaired(json: string): string {
  return (
    json
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      .replaceAll(/[\u0000-\u001F]/g, " ")
      .replaceAll(/(?<text>"(?:[^"\\]|\\.)*")|-?\b(?:nan|inf)\b/g, (_all, text?: string) => text ?? "null")
  );
}
