/**
 * Finds phone numbers that are written as such: international with `+`, with an area code in parentheses, or as in North America
 * (`555-201-3344`). Digits alone could be anything.
 */
import { expressionDetector } from "./detector.ts";

const international = String.raw`(?<![\w+])\+[1-9](?:[ ()./-]{0,2}\d){7,14}(?!\d)`;
const withAreaCode = String.raw`(?<![\w(])\(0?[1-9]\d{1,4}\)[ -]?\d{2,4}(?:[ ./-]?\d{2,5}){1,3}(?!\d)`;
const northAmerican = String.raw`(?<![A-Za-z\d])(?<!\d[.-])(?:1[.-])?[2-9]\d{2}([.-])[2-9]\d{2}\1\d{4}(?![A-Za-z\d]|[.-]\d)`;
const fewestDigits = 8;
const mostDigits = 15;

export const phoneNumberDetector = expressionDetector(
  new RegExp([international, withAreaCode, northAmerican].join("|"), "g"),
  46,
  (match) => {
    const count = match.replaceAll(/\D/g, "").length;
    return count >= fewestDigits && count <= mostDigits;
  },
);
