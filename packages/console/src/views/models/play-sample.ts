/** Plays a short sample of a voice; one at a time. */
import { signal } from "@preact/signals";
import type { VoiceList } from "@sounding/client";
import { request } from "../../api/request.ts";
import { sampleText } from "./sample-texts.ts";

export type Voice = VoiceList["data"][number];

interface Sample {
  readonly voice: string;
  readonly state: "loading" | "playing" | "failed";
  readonly error?: Error;
}

/** The sample that plays, or that failed last. */
export const sample = signal<Sample | undefined>(undefined);

let controller = new AbortController();
let audio: HTMLAudioElement | undefined;

export async function playSample({ name, model, languages }: Voice): Promise<void> {
  stopSample();
  const { signal: cancelled } = (controller = new AbortController());
  sample.value = { voice: name, state: "loading" };
  try {
    const [language] = languages;
    const input = sampleText(language === "*" ? undefined : language);
    const json = { model, voice: name, input, response_format: "mp3" };
    const response = await request("v1/audio/speech", { json, signal: cancelled });
    const url = URL.createObjectURL(await response.blob());
    if (cancelled.aborted) return;
    audio = new Audio(url);
    const end = (): void => {
      URL.revokeObjectURL(url);
      if (!cancelled.aborted) sample.value = undefined;
    };
    audio.addEventListener("ended", end);
    cancelled.addEventListener("abort", end);
    await audio.play();
    if (!cancelled.aborted) sample.value = { voice: name, state: "playing" };
  } catch (error) {
    if (!cancelled.aborted) sample.value = { voice: name, state: "failed", error: error as Error };
  }
}

export function stopSample(): void {
  controller.abort();
  audio?.pause();
  audio = undefined;
  sample.value = undefined;
}
