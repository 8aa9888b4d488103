/** What requests take that give one text or several, each as text or as tokens of the model. */
import { Type } from "typebox";

export type TextsOrTokens = string | readonly string[] | readonly number[] | readonly (readonly number[])[];

/** One text as tokens. */
export function tokenList(description: string) {
  return Type.Array(Type.Integer({ minimum: 0, description: "A token." }), { minItems: 1, description });
}

/** The texts. A list of numbers is one. */
export function listTexts(input: TextsOrTokens): readonly string[] | readonly (readonly number[])[] {
  if (typeof input === "string") return [input];
  return isTokens(input) ? [input] : input;
}

function isTokens(input: Exclude<TextsOrTokens, string>): input is readonly number[] {
  return typeof input[0] === "number";
}
