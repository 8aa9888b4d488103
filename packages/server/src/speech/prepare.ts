/**
 * Turns the client's body into a speech request: merges `extra_body` (the AI Refinery SDK nests it, OpenAI's clients
 * flatten it; the top level wins), fills in defaults, and checks the rules between fields.
 */
import { boundaryTypes, SpeechRequest, type BoundaryType, type SpeechFormat } from "../api/speech-request.ts";
import { validate } from "../api/validate.ts";
import { AppError } from "../errors.ts";

export interface PreparedSpeech {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly format: SpeechFormat;
  readonly speed: number;
  readonly language: string | undefined;
  readonly instructions: string | undefined;
  /** Hertz; undefined: the engine's rate. */
  readonly sampleRate: number | undefined;
  /** Undefined: none requested. */
  readonly boundaries: ReadonlySet<BoundaryType> | undefined;
  /** In one response, as a stream, or as a stream of OpenAI's events. */
  readonly delivery: "whole" | "stream" | "events";
  readonly timeoutMs: number | undefined;
}

/** @throws AppError invalid_request */
export function prepareSpeech(body: SpeechRequest, limits: { maxInputCharacters: number }): PreparedSpeech {
  const request = merged(body);
  const { input } = request;
  if (input.length > limits.maxInputCharacters) {
    refuse("input", `input has ${input.length} characters; expected at most ${limits.maxInputCharacters}.`);
  }
  const wantsBoundaries = request.enable_word_boundary === true;
  const events = request.stream_format === "sse";
  if (events && wantsBoundaries) {
    refuse(
      "stream_format",
      'stream_format is "sse", but enable_word_boundary is true; for word boundaries, set stream and omit stream_format.',
    );
  }
  const streamed = request.stream === true ? "stream" : "whole";
  return {
    model: request.model,
    input,
    voice: request.voice,
    format: request.response_format ?? "wav",
    speed: request.speed ?? 1,
    language: request.speech_synthesis_language ?? undefined,
    instructions: request.instructions ?? undefined,
    sampleRate: request.sample_rate ?? undefined,
    boundaries: wantsBoundaries ? new Set(request.boundary_types ?? boundaryTypes) : undefined,
    delivery: events ? "events" : streamed,
    timeoutMs: request.timeout == null ? undefined : request.timeout * 1_000,
  };
}

function merged({ extra_body: extra, ...body }: SpeechRequest): SpeechRequest {
  const added = Object.entries(extra ?? {}).filter(([name]) => !(name in body) && name !== "__proto__");
  return added.length === 0 ? body : validate(SpeechRequest, { ...body, ...Object.fromEntries(added) });
}

function refuse(param: string, message: string): never {
  throw new AppError("invalid_request", message, { param });
}
