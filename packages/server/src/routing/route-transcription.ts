/** Presents a route as one transcription model; calls that need word times use only targets that return them. */
import { AppError } from "../errors.ts";
import type { TranscribedDelta, TranscribedSegment, TranscriptionCall } from "../engines/engine.ts";
import type { Target } from "./target.ts";
import { routeStream, type RoutingOptions } from "./try-routes.ts";

/** A transcription model, independent of where it runs. Failures are those of a `ChatModel`. */
export interface RoutedTranscription {
  /** The model ID: of an alias its model. */
  readonly id: string;
  transcribe(call: TranscriptionCall): AsyncIterable<TranscribedDelta | TranscribedSegment>;
}

/** Ends every transcription, so that one without speech does not look like a failure. */
const end = { kind: "end" } as const;

export function createRouteTranscription(id: string, options: RoutingOptions): RoutedTranscription {
  return {
    id,
    async *transcribe(call) {
      for await (const item of routeStream(options, call, (target) => transcribeAt(target, call))) {
        if (item.kind !== "end") yield item;
      }
    },
  };
}

async function* transcribeAt(
  { transcription, model }: Target,
  call: TranscriptionCall,
): AsyncGenerator<TranscribedDelta | TranscribedSegment | typeof end, void> {
  if (transcription === undefined) {
    throw new AppError("invalid_request", `The model ${JSON.stringify(model)} does not transcribe.`, {
      param: "model",
    });
  }
  if (call.translates === true && transcription.translates !== true) {
    throw new AppError(
      "unsupported_parameter",
      `The model ${JSON.stringify(model)} does not translate; use POST /v1/audio/transcriptions, or a model that does.`,
      { param: "model" },
    );
  }
  if (call.words && !transcription.givesWords) {
    throw new AppError(
      "unsupported_parameter",
      `The model ${JSON.stringify(model)} does not provide word timings; remove "word" from timestamp_granularities.`,
      { param: "timestamp_granularities" },
    );
  }
  yield* transcription.transcribe(call);
  yield end;
}
