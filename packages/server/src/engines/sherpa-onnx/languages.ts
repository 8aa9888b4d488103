/** Determines the languages that a transcription model understands. */
import type { SherpaOnnxModelSettings } from "../../config/engines/sherpa-onnx.ts";
import { AppError } from "../../errors.ts";
import type { OnnxMetadata } from "../../model-files/onnx-metadata.ts";

/** https://github.com/FunAudioLLM/SenseVoice */
const senseVoiceLanguages = ["zh", "en", "yue", "ja", "ko"];

/** Undefined where nothing is known. */
export function languagesOf(
  { kind, languages }: SherpaOnnxModelSettings,
  metadata: OnnxMetadata,
): readonly string[] | undefined {
  if (languages !== undefined) return languages;
  if (kind === "sense_voice") return senseVoiceLanguages;
  if (kind !== "whisper") return undefined;
  if (metadata.get("is_multilingual") !== "1") return ["en"];
  const known = metadata.get("all_language_codes")?.split(",") ?? [];
  return [...known, ...Object.keys(whisperNames).filter((name) => known.includes(whisperNames[name]!))];
}

/** Whisper's names for languages that have another in BCP 47. */
const whisperNames: Readonly<Record<string, string>> = { nb: "no", nn: "no", jv: "jw", fil: "tl" };

/** As Whisper calls a language; undefined, which lets it listen for one, where the file does not have it: the library would end. */
export function whisperLanguage(primary: string, metadata: OnnxMetadata): string | undefined {
  const name = whisperNames[primary] ?? primary;
  return metadata.get("all_language_codes")?.split(",").includes(name) === true ? name : undefined;
}

/** The language of a model that knows one, perhaps with several regions; undefined for other models. */
export function onlyLanguage(known: readonly string[] | undefined): string | undefined {
  return new Set(known?.map(primaryOf)).size === 1 ? known?.[0] : undefined;
}

/**
 * The primary subtag of the language to recognize, which is how models name languages; undefined: the model detects it.
 * @param asked undefined if the caller names none
 * @throws AppError invalid_request
 */
export function languageFor(asked: string | undefined, known: readonly string[] | undefined): string | undefined {
  const wanted = asked ?? onlyLanguage(known);
  if (wanted === undefined) return undefined;
  const primary = primaryOf(wanted);
  if (known === undefined || known.some((each) => primaryOf(each) === primary)) return primary;
  throw new AppError(
    "invalid_request",
    `language is ${JSON.stringify(asked)}, but the model understands ${known.join(", ")}.`,
    { param: "language" },
  );
}

function primaryOf(language: string): string {
  return language.split("-", 1)[0]!.toLowerCase();
}

/** The model's name of the detected language (`en`, `<|en|>`) as BCP 47. */
export function detectedLanguage(name: string): string | undefined {
  return /^(?:<\|)?([a-z]{2,3})(?:\|>)?$/.exec(name)?.[1];
}
