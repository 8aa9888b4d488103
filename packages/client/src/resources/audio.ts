/** Speech synthesis and transcription. */
import type { Mode, Transport } from "../mode.ts";
import { createSpeech, type Speech } from "./speech.ts";
import { createTranscriptions, type Transcriptions } from "./transcriptions.ts";
import { createVoices, type Voices } from "./voices.ts";

export interface Audio<M extends Mode> {
  /** Speech synthesis. */
  readonly speech: Speech<M>;
  /** Transcription. */
  readonly transcriptions: Transcriptions<M>;
  /** The available voices. */
  readonly voices: Voices<M>;
}

export function createAudio<M extends Mode>(transport: Transport<M>): Audio<M> {
  return {
    speech: createSpeech(transport),
    transcriptions: createTranscriptions(transport),
    voices: createVoices(transport),
  };
}
