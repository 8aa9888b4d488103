/** Finds numbers of payment cards: the ranges and lengths of known networks, with a valid check digit (Luhn, ISO/IEC 7812-1). */
import { expressionDetector } from "./detector.ts";

/** In one piece, in groups of four, or as American Express and Diners Club write them. */
const grouped =
  /(?<![A-Za-z\d])(?<!\d[.-])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![A-Za-z\d]|[.-]\d)/g;

/** First digits and lengths. */
const networks: readonly (readonly [RegExp, ...number[]])[] = [
  [/^4/, 16, 19],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 16],
  [/^3[47]/, 15],
  [/^(?:6011|64[4-9]|65|62|352[89]|35[3-8])/, 16, 17, 18, 19],
  [/^(?:30[0-5]|3[689])/, 14, 16, 19],
  [/^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, 16, 17, 18, 19],
];

export const cardNumberDetector = expressionDetector(grouped, 23, (match) => {
  const digits = match.replaceAll(/\D/g, "");
  return (
    networks.some(([first, ...lengths]) => lengths.includes(digits.length) && first.test(digits)) &&
    hasCheckDigit(digits)
  );
});

function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = digits.length - 1, isDoubled = false; index >= 0; index -= 1, isDoubled = !isDoubled) {
    const digit = Number(digits[index]) * (isDoubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}
