/** The ears and the voice of the sample support desk, for customers who call by telephone. */
import { fromUser, inputAttributes, outputAttributes, textOf, type Message } from "./messages.ts";
import type { ActiveSpan } from "./recording.ts";
import type { StoryTurn } from "./stories.ts";

const service = "support-phone";
const recognizer = "whisper-1";
const voiceModel = "tts-1";
/** About what people speak. */
const charactersPerSecond = 15;

interface PhoneTurn {
  readonly session: string;
  readonly step: StoryTurn;
  /** What was said so far. */
  readonly history: readonly Message[];
}

/** What the customer said becomes text. */
export function recordTranscription(request: ActiveSpan, { session, step: { question } }: PhoneTurn): void {
  const seconds = question.length / charactersPerSecond;
  const attributes = {
    "gen_ai.operation.name": "transcription",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": recognizer,
    "gen_ai.output.type": "text",
    "gen_ai.conversation.id": session,
    "sounding.audio.duration": seconds,
    ...outputAttributes(fromUser(question), "stop"),
  };
  request.child({ service, name: `transcription ${recognizer}`, kind: "client", attributes }, (span) => {
    span.pass(220 * seconds);
  });
}

/** What the agent answered last is spoken. */
export function recordSpeech(request: ActiveSpan, { session, history }: PhoneTurn): void {
  const message = history.at(-1)!;
  const characters = textOf(message).length;
  const attributes = {
    "gen_ai.operation.name": "speech",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": voiceModel,
    "gen_ai.request.voice": "alloy",
    "gen_ai.output.type": "speech",
    "gen_ai.conversation.id": session,
    "sounding.speech.characters": characters,
    "sounding.audio.duration": characters / charactersPerSecond,
    ...inputAttributes([message]),
  };
  request.child({ service, name: `speech ${voiceModel}`, kind: "client", attributes }, (span) => {
    span.pass(3 * characters);
  });
}
