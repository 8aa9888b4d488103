/**
 * Says what the models of an OpenAI-compatible API are for, which the API itself does not: by the configuration, else by
 * their names, which follow a few patterns; all others chat.
 */
import type { Capability } from "../../api/models.ts";

/** The first that matches decides. */
const patterns: readonly (readonly [RegExp, Capability])[] = [
  [/embed|(?:^|[/_-])(?:bge|e5|gte|minilm|nomic|mxbai|stella)(?:[/_-]|$)/i, "embeddings"],
  [/whisper|transcri|(?:^|[/_-])(?:asr|stt|parakeet|canary|moonshine)(?:[/_-]|$)/i, "transcription"],
  [/(?:^|[/_-])(?:tts|kokoro|piper|orpheus|xtts|bark|melo|chatterbox)(?:[/_-]|$)/i, "speech"],
];

export function capabilitiesByName(model: string): readonly [Capability] {
  const found = patterns.find(([pattern]) => pattern.test(model));
  return [found?.[1] ?? "chat"];
}
