/** `POST /v1/audio/speech`. https://platform.openai.com/docs/api-reference/audio/createSpeech */
import type { SpeechRequest } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters, OrUndefined } from "../request.ts";
import { createSpeechDecoder, toSpeechStream, type SpeechItem, type SpeechStream } from "./speech-stream.ts";
import { readSpeech, type TTSResponse } from "./tts-response.ts";

type Steering = "extra_body" | "stream" | "stream_format" | "timeout";

/** The request's parameters, each of which may also be undefined, and those that control the client. */
export interface SpeechParams
  extends
    Omit<CallParameters, "extra_body">,
    OrUndefined<Omit<SpeechRequest, Steering | "input" | "model" | "voice">>,
    Pick<SpeechRequest, "input" | "model" | "voice"> {
  /** Additional parameters. A parameter with the same name next to `extra_body` takes precedence. */
  extra_body?: SpeechRequest["extra_body"] | undefined;
}

type Flag = boolean | null | undefined;

/** What a stream contains: bytes, unless word boundaries are or may be requested in one of the two places. */
export type SpeechItemFor<Boundaries extends Flag, ExtraBoundaries extends Flag> = true extends
  | Boundaries
  | ExtraBoundaries
  ? SpeechItem
  : Uint8Array;

export interface SpeechStreaming<M extends Mode> {
  /**
   * Synthesizes speech and returns the audio while it is generated; with word boundaries, each boundary comes before
   * its audio.
   */
  create<Boundaries extends Flag = undefined, ExtraBoundaries extends Flag = undefined>(
    params: SpeechParams & {
      enable_word_boundary?: Boundaries;
      extra_body?: { enable_word_boundary?: ExtraBoundaries } | null | undefined;
    },
    options?: CallOptions,
  ): Out<M, SpeechStream<M, SpeechItemFor<Boundaries, ExtraBoundaries>>>;
}

export interface Speech<M extends Mode> {
  /** Synthesizes speech and returns the complete audio. */
  create(params: SpeechParams, options?: CallOptions): Out<M, TTSResponse<M>>;
  /** Synthesizes speech and streams the audio while it is generated. */
  readonly with_streaming_response: SpeechStreaming<M>;
}

export function createSpeech<M extends Mode>(transport: Transport<M>): Speech<M> {
  const post = { method: "POST", path: "/v1/audio/speech" } as const;

  function createStream(params: SpeechParams, options?: CallOptions): Out<M, SpeechStream<M, SpeechItem>> {
    const parameters = { ...params, stream: true };
    const request = { ...post, accept: "audio/*, application/x-ndjson", parameters, options };
    return transport.map(transport.stream(request, createSpeechDecoder), (stream) => toSpeechStream(stream, transport));
  }

  return {
    create(params, options) {
      const parameters = { ...params, stream: false };
      const request = { ...post, accept: "audio/*, application/json", parameters, options };
      return transport.send(request, (answer) => readSpeech(answer, transport));
    },
    // The parameters determine the type of the items.
    with_streaming_response: { create: createStream as SpeechStreaming<M>["create"] },
  };
}
