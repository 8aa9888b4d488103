/** The result of reading a text as a number. */
import { inputLimit } from "@sounding/promql/input-limit";

export type Conversion =
  | { readonly value: number; readonly problem?: undefined }
  /** Why it is none, in Loki's words. */
  | { readonly problem: string; readonly value?: undefined };

/** Any double is shorter, with all its digits and without an exponent. */
const maximumCharacters = inputLimit({
  area: "LogQL",
  bounds: "Value that a query reads as a number, a duration or a size",
  value: 1100,
  unit: "characters",
  error: { instead: "the entry has the label `__error__`" },
});

/** Why a text is not even looked at; undefined if it is short enough. */
export function refuseLong(text: string): Conversion | undefined {
  if (text.length <= maximumCharacters) return undefined;
  return { problem: `the value has ${text.length} characters, the limit for numbers is ${maximumCharacters}` };
}
