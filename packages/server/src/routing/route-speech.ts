/** Presents a route as one speech model, with each target's own name of the voice. */
import { AppError } from "../errors.ts";
import type { SpeechCall, SpeechPiece, Voice } from "../engines/engine.ts";
import type { Target } from "./target.ts";
import { routeStream, type RoutingOptions } from "./try-routes.ts";
import { resolveVoice, type VoiceNames } from "./voices/resolve-voice.ts";

/** A speech model, independent of where it runs. Its voices are those of its first target. */
export interface RoutedSpeech {
  /** Undefined where the engine takes names that are not known here. */
  voices(signal: AbortSignal): Promise<readonly Voice[] | undefined>;
  /** `call.voice` is a name as the caller gave it: the engine's own, a configured one or a well-known one. */
  speak(call: SpeechCall): AsyncIterable<SpeechPiece>;
}

export function createRouteSpeech(options: RoutingOptions, names: VoiceNames): RoutedSpeech {
  return {
    async voices(signal) {
      const route = options.enter();
      try {
        return await route.targets[0]?.speech?.voices(signal);
      } finally {
        route.lease.leave();
      }
    },
    speak: (call) => routeStream(options, call, (target) => speakAt(target, call, names)),
  };
}

async function* speakAt(target: Target, call: SpeechCall, names: VoiceNames): AsyncGenerator<SpeechPiece, void> {
  const { speech, model } = target;
  if (speech === undefined) {
    throw new AppError("invalid_request", `The model ${JSON.stringify(model)} does not synthesize speech.`, {
      param: "model",
    });
  }
  if (call.marks && !speech.givesMarks) {
    throw new AppError(
      "unsupported_parameter",
      `The model ${JSON.stringify(model)} does not provide word timings; set enable_word_boundary to false.`,
      { param: "enable_word_boundary" },
    );
  }
  const voice = resolveVoice(call, await speech.voices(call.signal), names);
  yield* speech.speak({ ...call, ...voice });
}
