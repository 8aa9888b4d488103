/**
 * Reads the vocabulary of a Whisper model in CTranslate2's format: its tokens for sherpa-onnx, and the numbers of those with a
 * meaning. Tokens are bytes that are written as printable characters, as in GPT-2.
 * https://github.com/openai/gpt-2/blob/master/src/encoder.py
 */
import { UnusableWeights } from "./weights-file.ts";

export interface Vocabulary {
  readonly size: number;
  /** The lines of sherpa-onnx's list: the bytes of a token in base64, and its number. */
  readonly lines: readonly string[];
  /** Numbers of tokens such as `<|transcribe|>`. @throws UnusableWeights for one that the model lacks */
  numberOf(...names: readonly string[]): number;
  /** Codes and numbers, in the order of the numbers. */
  readonly languages: readonly { readonly code: string; readonly number: number }[];
}

/** @param text of `vocabulary.txt`, with a token on each line, or of `vocabulary.json`, a list */
export function readVocabulary(name: string, text: string): Vocabulary {
  const tokens = name.endsWith(".json") ? parseList(name, text) : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const numbers = new Map(tokens.map((token, number) => [token, number]));
  const numberOf = (...names: readonly string[]): number => {
    for (const each of names) if (numbers.has(each)) return numbers.get(each)!;
    throw new UnusableWeights(`its ${name} lacks the token ${names[0]}`);
  };
  const end = numberOf("<|endoftext|>");
  const lines = tokens.slice(0, end).map((token, number) => `${bytesOf(name, token).toString("base64")} ${number}`);
  const first = numberOf("<|startoftranscript|>") + 1;
  const languages: { code: string; number: number }[] = [];
  for (let number = first; number < tokens.length; number++) {
    const code = /^<\|([a-z]{2,3})\|>$/.exec(tokens[number]!)?.[1];
    if (code === undefined) break;
    languages.push({ code: code === "iw" ? "he" : code, number });
  }
  return { size: tokens.length, lines, numberOf, languages };
}

function parseList(name: string, text: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  } catch {
    // Reported below.
  }
  throw new UnusableWeights(`its ${name} is not a list of tokens`);
}

function bytesOf(name: string, token: string): Buffer {
  return Buffer.from(
    Array.from(token, (character) => {
      const byte = bytes().get(character);
      if (byte === undefined) throw new UnusableWeights(`its ${name} has a token that is not written in bytes`);
      return byte;
    }),
  );
}

let table: ReadonlyMap<string, number> | undefined;

function bytes(): ReadonlyMap<string, number> {
  if (table !== undefined) return table;
  const isPrintable = (byte: number): boolean =>
    byte >= 33 && byte !== 127 && byte !== 173 && (byte < 127 || byte > 160);
  let others = 0;
  const entries = Array.from({ length: 256 }, (_, byte): [string, number] => {
    return [String.fromCodePoint(isPrintable(byte) ? byte : 256 + others++), byte];
  });
  return (table = new Map(entries));
}
