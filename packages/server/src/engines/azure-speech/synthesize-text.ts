/**
 * Synthesizes one text over an open socket: its samples and its word boundaries. The messages are those of Microsoft's SDK:
 * https://github.com/microsoft/cognitive-services-speech-sdk-js, SynthesisAdapterBase.ts
 */
import { randomUUID } from "node:crypto";
import { AppError } from "../../errors.ts";
import { isObject } from "../../json-object.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import type { SpokenToken } from "../spoken-text/marks.ts";
import { malformedMessage, writeMessage, type SpeechMessage } from "./message.ts";
import type { SpeechSocket } from "./speech-socket.ts";
import { unescaped } from "./ssml.ts";

export const voiceRate = 24_000;
const outputFormat = "raw-24khz-16bit-mono-pcm";
const ticksPerSecond = 10_000_000;

export interface SynthesizedText {
  /** 16-bit PCM at `voiceRate`. */
  readonly pcm: Buffer;
  /** The words in the order of time, seconds from the first sample. */
  readonly words: readonly SpokenToken[];
}

export interface SynthesisLimits extends TimeLimits {
  readonly maxBytes: number;
}

/** Identifies the client, once per socket. */
export function sendSpeechConfig(socket: SpeechSocket): void {
  const body = { context: { system: { name: "sounding", version: "1", build: "Node.js", lang: "TypeScript" } } };
  socket.send(messageOf("speech.config", newRequestId(), body));
}

/** @throws AppError as a call does */
export async function synthesizeText(
  socket: SpeechSocket,
  { ssml, words: wantsWords }: { ssml: string; words: boolean },
  limits: SynthesisLimits,
): Promise<SynthesizedText> {
  const requestId = newRequestId();
  const metadataOptions = {
    bookmarkEnabled: false,
    punctuationBoundaryEnabled: false,
    sentenceBoundaryEnabled: false,
    sessionEndEnabled: true,
    visemeEnabled: false,
    wordBoundaryEnabled: wantsWords,
  };
  const synthesis = { audio: { metadataOptions, outputFormat }, language: { autoDetection: false } };
  socket.send(messageOf("synthesis.context", requestId, { synthesis }));
  socket.send(writeMessage({ path: "ssml", requestId, contentType: "application/ssml+xml", body: ssml }));
  const pieces: Buffer[] = [];
  const words: SpokenToken[] = [];
  let byteLength = 0;
  const endMs = performance.now() + limits.totalTimeoutMs;
  for (;;) {
    const patienceMs = byteLength === 0 ? limits.firstByteTimeoutMs : limits.idleTimeoutMs;
    const message = await socket.next(Math.max(0, Math.min(patienceMs, endMs - performance.now())));
    if (message.requestId !== requestId) continue;
    if (message.path === "audio") {
      pieces.push(message.body);
      byteLength += message.body.length;
      if (byteLength > limits.maxBytes) {
        throw new AppError("upstream_failed", `The engine sent more than ${limits.maxBytes} bytes for one phrase.`);
      }
    } else if (message.path === "audio.metadata") words.push(...readWords(message));
    else if (message.path === "turn.end") break;
  }
  if (byteLength % 2 === 1) throw malformedMessage("the audio ends in the middle of a sample");
  return { pcm: Buffer.concat(pieces, byteLength), words };
}

function newRequestId(): string {
  return randomUUID().replaceAll("-", "").toUpperCase();
}

function messageOf(path: string, requestId: string, body: unknown): string {
  return writeMessage({ path, requestId, contentType: "application/json", body: JSON.stringify(body) });
}

/** `{"Metadata": [{"Type": "WordBoundary", "Data": {"Offset": …, "Duration": …, "text": {"Text": …, "BoundaryType": …}}}]}` */
function readWords({ body }: SpeechMessage): SpokenToken[] {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw malformedMessage("its word timings are not JSON", error);
  }
  const list = isObject(value) ? value["Metadata"] : undefined;
  if (!Array.isArray(list)) throw malformedMessage("it has no list of word timings");
  return list.flatMap((entry: unknown) => {
    if (!isObject(entry) || entry["Type"] !== "WordBoundary") return [];
    const data = entry["Data"];
    if (!isObject(data) || !isObject(data["text"])) throw malformedMessage("a word has no text");
    const { Offset: offset, Duration: duration } = data;
    const { Text: text, BoundaryType: type = "WordBoundary" } = data["text"];
    if (typeof offset !== "number" || typeof text !== "string") throw malformedMessage("a word has no time");
    if (type !== "WordBoundary") return [];
    const start = Math.max(0, offset / ticksPerSecond);
    const seconds = typeof duration === "number" ? Math.max(0, duration / ticksPerSecond) : 0;
    return [{ text: unescaped(text), start, end: start + seconds }];
  });
}
