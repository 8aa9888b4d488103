/** Respells sounds that engines would spell letter by letter: `Hmm`, `Shh`, `Psst`. */
import { one, type Reading, type Sentence } from "./tokens.ts";

const sounds: readonly (readonly [RegExp, string])[] = [
  [/^h+m{2,}$/i, "hum"],
  [/^m{3,}$/i, "um"],
  [/^sh{2,}$/i, "shush"],
  [/^p+s{1,}t$/i, "pist"],
  [/^br{2,}$/i, "burr"],
  [/^gr{2,}$/i, "gurr"],
  [/^p+f{2,}t?$/i, "puff"],
  [/^tsk$/i, "tisk"],
];

export function readInterjection({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const spoken = sounds.find(([pattern]) => pattern.test(token.text))?.[1];
  return spoken === undefined ? undefined : one(token, spoken);
}
