/** Synthesizes one text, batch or streaming: prepare, admit, call a model, record. */
import type { SpeechRequest } from "../api/speech-request.ts";
import type { SpeechWithBoundaries, WordBoundary } from "../api/speech.ts";
import { type AppError, requestTimedOut, toAppError } from "../errors.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { callerOf, type CallerFields } from "../http/caller.ts";
import type { RouteInput } from "../http/route.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { SpeechCall } from "../engines/engine.ts";
import { costHeaders, type CallCost, type CallCosts } from "../pricing/call-costs.ts";
import type { CallUsage } from "../pricing/token-usage.ts";
import type { RoutedSpeech } from "../routing/route-speech.ts";
import type { Scope } from "../tenant.ts";
import { reportEnd } from "../streams/report-end.ts";
import { openAudioOutput, type AudioOutput, type OutputItem } from "./audio-output.ts";
import type { FinishedSpeech } from "../finished-call.ts";
import { CallRecord, refusedSpeech } from "./call-record.ts";
import { prepareSpeech, type PreparedSpeech } from "./prepare.ts";

export interface SpeechParts {
  /** @throws AppError model_not_found, model_not_allowed, invalid_request */
  resolveModel(scope: Scope, modelId: string): RoutedSpeech;
  readonly limiter: Limiter;
  maxInputCharacters(): number;
  readonly costs: CallCosts;
  /** Called once for each call, refused ones included; must not throw. */
  observe(call: FinishedSpeech): void;
}

export type SpeechInput = Pick<RouteInput<SpeechRequest>, "body" | CallerFields | "signal" | "note">;

type Headers = Readonly<Record<string, string>>;

export type SpeechAnswer =
  | { readonly kind: "audio"; readonly audio: Uint8Array; readonly type: string; readonly headers: Headers }
  | { readonly kind: "boundaries"; readonly answer: SpeechWithBoundaries; readonly headers: Headers }
  | {
      readonly kind: "stream";
      readonly form: "bytes" | "lines" | "events";
      readonly items: AsyncIterable<OutputItem>;
      readonly type: string;
      /** For the last of OpenAI's events. */
      readonly inputTokens: number;
      /** For the same, once all items have been read. */
      toldCost(): CallCost | undefined;
      readonly headers: Headers;
    };

export type Speak = (input: SpeechInput) => Promise<SpeechAnswer>;

export function createSpeak(parts: SpeechParts): Speak {
  return async (input) => {
    const { speech, model, inputTokens, admission } = await admit(input, parts);
    const record = new CallRecord({ speech, inputTokens, admission, input, ...parts });
    const limit = timeLimit(input.signal, speech.timeoutMs);
    const end = (error?: AppError): void => {
      limit.clear();
      record.end(error);
    };
    try {
      const output = await openAudioOutput(
        model.speak(toCall(speech, limit.signal, { record, input })),
        speech,
        record,
      );
      const headers = {
        ...admission.headers(),
        "x-sample-rate": String(output.sampleRate),
        // An alias or a fallback may have led to another model than the requested one.
        "x-model": record.attempts.at(-1)?.modelId ?? speech.model,
      };
      if (speech.delivery !== "whole") {
        const items = reportEnd(output.items, end);
        const stream = { form: formOf(speech), items, type: output.contentType, inputTokens, headers };
        return { kind: "stream", ...stream, toldCost: () => record.toldCost };
      }
      const { audio, boundaries } = await collect(output);
      end();
      const pricedHeaders = { ...headers, ...costHeaders(record.toldCost) };
      if (speech.boundaries === undefined) {
        return { kind: "audio", audio, type: output.contentType, headers: pricedHeaders };
      }
      const answer = { audio: audio.toString("base64"), word_boundaries: boundaries };
      return { kind: "boundaries", answer, headers: pricedHeaders };
    } catch (error) {
      end(toAppError(error));
      throw error;
    }
  };
}

/** Prepares the request, resolves its model, then applies the limits. A refusal is recorded. */
async function admit(input: SpeechInput, parts: SpeechParts) {
  const start = { unixMs: Date.now(), monotonicMs: performance.now() };
  try {
    const speech = prepareSpeech(input.body, { maxInputCharacters: parts.maxInputCharacters() });
    const model = parts.resolveModel(input.scope, speech.model);
    const inputTokens = estimateTokens(speech.input.length);
    const admission = await parts.limiter.admit(input.scope, {
      estimatedTokens: inputTokens,
      call: () => {
        const { endUser, tags } = callerOf(input);
        return { model: speech.model, endUser, tags, usage: mostUsed(speech) };
      },
    });
    return { speech, model, inputTokens, admission };
  } catch (thrown) {
    parts.observe(refusedSpeech(input, start, toAppError(thrown)));
    throw thrown;
  }
}

/** No voice speaks slower, but for its speed. */
const slowestCharactersPerSecond = 8;

function mostUsed({ input, speed }: PreparedSpeech): CallUsage {
  return { characters: input.length, outputSeconds: 1 + input.length / slowestCharactersPerSecond / speed };
}

function toCall(
  speech: PreparedSpeech,
  signal: AbortSignal,
  { record, input }: { record: CallRecord; input: SpeechInput },
): SpeechCall {
  return {
    input: speech.input,
    voice: speech.voice,
    language: speech.language,
    instructions: speech.instructions,
    speed: speech.speed,
    marks: speech.boundaries !== undefined,
    signal,
    requestId: input.requestId,
    fairnessKey: input.scope.organizationId,
    onAttempt: (attempt) => record.attempts.push(attempt),
  };
}

function formOf({ delivery, boundaries }: PreparedSpeech): "bytes" | "lines" | "events" {
  if (delivery === "events") return "events";
  return boundaries === undefined ? "bytes" : "lines";
}

async function collect({ items }: AudioOutput): Promise<{ audio: Buffer; boundaries: WordBoundary[] }> {
  const pieces: Uint8Array[] = [];
  const boundaries: WordBoundary[] = [];
  for await (const item of items) {
    if (item.kind === "audio") pieces.push(item.bytes);
    else boundaries.push(item.boundary);
  }
  return { audio: Buffer.concat(pieces), boundaries };
}

/** The request's signal, which also aborts after the request's `timeout`. */
function timeLimit(signal: AbortSignal, timeoutMs: number | undefined): { signal: AbortSignal; clear: () => void } {
  if (timeoutMs === undefined) return { signal, clear: () => {} };
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(requestTimedOut(timeoutMs));
  }, timeoutMs);
  return { signal: AbortSignal.any([signal, controller.signal]), clear: () => clearTimeout(timer) };
}
