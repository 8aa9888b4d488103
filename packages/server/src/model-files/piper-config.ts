/**
 * Reads the description of a Piper voice, `NAME.onnx.json`, which is published next to `NAME.onnx`.
 * https://github.com/OHF-Voice/piper1-gpl/blob/main/docs/TRAINING.md
 */
import { open } from "node:fs/promises";
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { inputLimit } from "../input-limits.ts";

/** That of a voice with 900 speakers has 30 kB. */
const mostConfigBytes = inputLimit({
  area: "Configuration and model files",
  bounds: "Description of a Piper voice (`NAME.onnx.json`)",
  value: 2 ** 20,
  unit: "bytes",
  error: { instead: "the voice is listed with the problem and not served" },
});

const piperConfig = Type.Object({
  audio: Type.Object({ sample_rate: Type.Integer({ minimum: 4_000, maximum: 192_000 }) }),
  /** The voice of espeak-ng that turns text into phonemes. */
  espeak: Type.Object({ voice: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_+-]{0,63}$" }) }),
  phoneme_type: Type.Optional(Type.String({ maxLength: 64 })),
  num_speakers: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  speaker_id_map: Type.Optional(
    Type.Record(Type.String({ maxLength: 256 }), Type.Integer({ minimum: 0, maximum: 9_999 })),
  ),
  phoneme_id_map: Type.Record(
    Type.String({ minLength: 1, maxLength: 64 }),
    Type.Array(Type.Integer({ minimum: 0, maximum: 65_535 }), { minItems: 1, maxItems: 16 }),
    { maxProperties: 10_000 },
  ),
  language: Type.Optional(Type.Object({ name_english: Type.Optional(Type.String({ maxLength: 128 })) })),
});
export type PiperConfig = Static<typeof piperConfig>;

/** The beginning, the end and the padding of a phrase, without which the library ends its process. */
const requiredPhonemes = ["^", "$", "_"];

/** @throws Error that says what is wrong, as the end of a sentence about the voice */
export async function readPiperConfig(path: string, name: string): Promise<PiperConfig> {
  const fail = (problem: string): never => {
    throw new Error(`its description ${name} is invalid: ${problem}`);
  };
  const value = parse(await readBounded(path, fail), fail);
  if (!Value.Check(piperConfig, value)) {
    const [first] = Value.Errors(piperConfig, value);
    const field = first?.instancePath.slice(1).replaceAll("/", ".").slice(0, 100) ?? "";
    return fail(`${field === "" ? "it" : field} ${first?.message ?? "has the wrong form"}`);
  }
  const { phoneme_type: type = "espeak", phoneme_id_map: phonemes } = value;
  if (type !== "espeak") return fail(`phoneme_type is ${JSON.stringify(type)}; only "espeak" is supported`);
  const missing = requiredPhonemes.filter((phoneme) => !Object.hasOwn(phonemes, phoneme));
  return missing.length === 0 ? value : fail(`phoneme_id_map lacks ${missing.join(" ")}`);
}

async function readBounded(path: string, fail: (problem: string) => never): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > mostConfigBytes) return fail(`it has more than ${mostConfigBytes} bytes`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

function parse(text: string, fail: (problem: string) => never): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return fail("it is not JSON");
  }
}

/** What the library reads from the metadata of the network. */
export function metadataOf(config: PiperConfig): ReadonlyMap<string, string> {
  const speakers = config.num_speakers ?? 1;
  const names = speakerNames(config, speakers);
  return new Map([
    ["model_type", "vits"],
    ["comment", "piper"],
    ["language", config.language?.name_english ?? config.espeak.voice],
    ["voice", config.espeak.voice],
    ["has_espeak", "1"],
    ["n_speakers", String(speakers)],
    ["sample_rate", String(config.audio.sample_rate)],
    ...(names === undefined ? [] : ([["speaker_names", names.join(",")]] as const)),
  ]);
}

/** In the order of their numbers; undefined where not every number has one name that fits into a list. */
function speakerNames({ speaker_id_map: numbers = {} }: PiperConfig, speakers: number): string[] | undefined {
  const names: string[] = [];
  for (const [name, number] of Object.entries(numbers)) {
    if (names[number] !== undefined || !/^[^,\p{Cc}]+$/u.test(name)) return undefined;
    names[number] = name;
  }
  const isComplete = names.length === speakers && Object.keys(numbers).length === speakers;
  return speakers > 1 && isComplete ? names : undefined;
}

/** The library's list of phonemes. It compares single characters, and ends its process if a line has more than one. */
export function tokensOf({ phoneme_id_map: phonemes }: PiperConfig): string {
  return Object.entries(phonemes)
    .filter(([phoneme]) => /^(?:[^\s\p{C}]| )$/u.test(phoneme))
    .map(([phoneme, [id]]) => `${phoneme} ${id}\n`)
    .join("");
}
