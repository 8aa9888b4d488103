/** Lists the voices of a speech model: as configured, or from its file's metadata. */
import type { SherpaOnnxModelSettings } from "../../config/engines/sherpa-onnx.ts";
import { AppError } from "../../errors.ts";
import type { Voice } from "../engine.ts";
import type { OnnxMetadata } from "../../model-files/onnx-metadata.ts";

export interface SpeakerVoice extends Voice {
  /** Number of the speaker in the model. */
  readonly speaker: number;
}

/** A file that claims more speakers than this is wrong. */
const mostSpeakers = 10_000;

/** @throws AppError upstream_failed for a voice that the model cannot have */
export function voicesOf(
  name: string,
  settings: SherpaOnnxModelSettings,
  metadata: OnnxMetadata,
): readonly [SpeakerVoice, ...SpeakerVoice[]] {
  const speakers = Math.min(Math.max(1, Number(metadata.get("n_speakers") ?? 1)), mostSpeakers);
  const languages = settings.languages ?? languagesOf(metadata);
  const configured = Object.entries(settings.voices ?? {}).map(([voice, { languages: own, ...facts }]) => {
    if (facts.speaker < speakers) return { ...facts, name: voice, languages: own ?? languages };
    throw new AppError(
      "upstream_failed",
      `The model ${JSON.stringify(name)} cannot be used: the voice ${JSON.stringify(voice)} uses speaker ${facts.speaker}, but the model has ${speakers}, numbered from 0.`,
      { lasting: true },
    );
  });
  const names = metadata.get("speaker_names")?.split(",") ?? [];
  const own = Array.from({ length: speakers }, (_, speaker): SpeakerVoice => {
    const voice = names[speaker] ?? (speakers === 1 ? name : String(speaker));
    return { name: voice, speaker, languages, ...(settings.languages === undefined ? kokoroFacts(voice) : {}) };
  });
  const [first, ...others] = configured.length > 0 ? configured : own;
  return [first!, ...others];
}

/** Piper's files name the voice of espeak-ng that reads for them, such as `en-us`. */
function languagesOf(metadata: OnnxMetadata): readonly string[] {
  const reader = /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i.exec(metadata.get("voice") ?? "")?.[0];
  // A file with voices of many languages is read by the voice of one.
  const isOfMany = metadata.has("speaker_names") && metadata.get("comment") !== "piper";
  if (reader === undefined || isOfMany) return ["*"];
  try {
    return Intl.getCanonicalLocales(reader);
  } catch {
    return ["*"];
  }
}

/** The first letters of Kokoro's voices. https://huggingface.co/hexgrad/Kokoro-82M/blob/main/VOICES.md */
const kokoroLanguages: Readonly<Record<string, string>> = {
  a: "en-US",
  b: "en-GB",
  e: "es",
  f: "fr-FR",
  h: "hi",
  i: "it",
  j: "ja",
  p: "pt-BR",
  z: "zh-CN",
};

function kokoroFacts(name: string): Partial<Pick<Voice, "languages" | "gender">> {
  const [, language = "", gender] = /^([a-z])([fm])_/.exec(name) ?? [];
  const known = kokoroLanguages[language];
  return known === undefined ? {} : { languages: [known], gender: gender === "f" ? "female" : "male" };
}
