/** `POST /v1/audio/transcriptions`. https://platform.openai.com/docs/api-reference/audio/createTranscription */
import type { FileInput } from "../file-input.ts";
import type {
  TranscriptionRequest,
  TranscriptionStreamEvent,
  TranscriptionText,
  TranscriptionVerbose,
} from "../generated/types.ts";
import { createJsonEventDecoder } from "../json-events.ts";
import type { EventStream, Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters, OrUndefined } from "../request.ts";
import { readJson } from "../response.ts";

/** A recording, the parameters of its transcription, and those that control the client. */
export interface TranscriptionParams
  extends
    Omit<CallParameters, "extra_body">,
    OrUndefined<Omit<TranscriptionRequest, "extra_body" | "model" | "timeout">>,
    Pick<TranscriptionRequest, "model"> {
  /** The recording: WAV, MP3, FLAC, Ogg, WebM, MP4 (Opus) or raw samples. */
  file: FileInput;
  /** Additional fields; they override fields with the same name. */
  extra_body?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A transcription without times. */
export type ASRResponse = TranscriptionText;
/** How a recording is split before transcription. */
export type ChunkingStrategy = Exclude<TranscriptionRequest["chunking_strategy"], string | null | undefined>;
/** A segment of speech. */
export type TranscriptionSegment = TranscriptionVerbose["segments"][number];
/** A word and when it was spoken. */
export type TranscriptionWord = NonNullable<TranscriptionVerbose["words"]>[number];

type EventOf<Type extends TranscriptionStreamEvent["type"]> = Extract<TranscriptionStreamEvent, { type: Type }>;
/** More text. */
export type TranscriptionTextDeltaEvent = EventOf<"transcript.text.delta">;
/** The last event: the transcription is complete. */
export type TranscriptionTextDoneEvent = EventOf<"transcript.text.done">;
/** A word, if words were requested. */
export type TranscriptionWordEvent = EventOf<"transcript.word">;
/** A completed segment, if segments were requested. */
export type TranscriptionSegmentEvent = EventOf<"transcript.segment">;

type Streaming = boolean | null | undefined;
type Format = TranscriptionRequest["response_format"];

/** What a call returns, depending on its parameters `stream` and `response_format`. */
export type TranscriptionResult<
  M extends Mode,
  Stream extends Streaming,
  ResponseFormat extends Format,
> = Stream extends true
  ? EventStream<M, TranscriptionStreamEvent>
  : ResponseFormat extends "verbose_json"
    ? TranscriptionVerbose
    : ASRResponse;

export interface Transcriptions<M extends Mode> {
  /**
   * Transcribes a recording: with `stream: true` while it is recognized, with `response_format: "verbose_json"` as a
   * whole with times, otherwise as text only. A call without a `timeout` may take 60 seconds.
   */
  // Not overloads: for these, the compiler reports one mistake as four.
  create<Stream extends Streaming = undefined, ResponseFormat extends Format = undefined>(
    params: TranscriptionParams & { stream?: Stream; response_format?: ResponseFormat },
    options?: CallOptions,
  ): Out<M, TranscriptionResult<M, Stream, ResponseFormat>>;
}

export function createTranscriptions<M extends Mode>(transport: Transport<M>): Transcriptions<M> {
  const post = { method: "POST", path: "/v1/audio/transcriptions", defaultTimeoutMs: 60_000 } as const;

  function create(
    { file, ...parameters }: TranscriptionParams,
    options?: CallOptions,
  ): Out<M, object> | Out<M, EventStream<M, TranscriptionStreamEvent>> {
    const form = { ...post, parameters, file, options };
    if ({ ...parameters, ...parameters.extra_body }.stream === true) {
      const request = { ...form, accept: "text/event-stream" };
      return transport.stream(request, createJsonEventDecoder<TranscriptionStreamEvent>);
    }
    return transport.send({ ...form, accept: "application/json" }, readJson);
  }

  // The parameters determine the type of the result.
  return { create: create as Transcriptions<M>["create"] };
}
