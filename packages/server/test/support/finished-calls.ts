/** Records of finished calls, with the members that a test sets. */
import type { FinishedChat, FinishedSpeech, FinishedTranscription } from "../../src/finished-call.ts";
import { Scope } from "../../src/tenant.ts";
import { testKey } from "./test-key.ts";

const common = {
  requestId: "req_1",
  traceparent: undefined,
  isPrivate: false,
  tracestate: undefined,
  clientAddress: undefined,
  endUser: undefined,
  conversation: undefined,
  model: "m",
  stream: false,
  durationMs: 3,
  error: undefined,
  refused: false,
  attempts: [],
  cost: undefined,
};

export function finishedChat(members: Partial<FinishedChat> = {}): FinishedChat {
  return {
    ...common,
    kind: "chat",
    operation: "chat",
    scope: Scope.fromKey(testKey({})),
    startUnixMs: Date.now(),
    request: { model: "m", messages: [{ role: "user", content: "hello" }] },
    firstChunkMs: undefined,
    usage: undefined,
    isUsageEstimated: false,
    answer: { id: "a", model: "m", finishReasons: ["stop"], choices: [{ text: "hi", toolCalls: [] }] },
    guard: undefined,
    ...members,
  };
}

export function finishedSpeech(members: Partial<FinishedSpeech> = {}): FinishedSpeech {
  return {
    ...common,
    kind: "speech",
    scope: Scope.fromKey(testKey({})),
    startUnixMs: Date.now(),
    voice: "v",
    format: "wav",
    input: "hello",
    characters: 5,
    firstAudioMs: undefined,
    audioSeconds: 0,
    ...members,
  };
}

export function finishedTranscription(members: Partial<FinishedTranscription> = {}): FinishedTranscription {
  return {
    ...common,
    kind: "transcription",
    scope: Scope.fromKey(testKey({})),
    startUnixMs: Date.now(),
    language: "en-US",
    firstTextMs: undefined,
    audioSeconds: 0,
    realTimeFactor: undefined,
    confidence: undefined,
    text: "hello",
    ...members,
  };
}
