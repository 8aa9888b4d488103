/** Measures and cuts text in terminal columns: East Asian characters and emoji take two, combining marks none. */
import { eastAsianWidth } from "get-east-asian-width";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const plain = /^[\u0020-\u007e]*$/;
const emoji = /^\p{RGI_Emoji}$/v;
const withoutWidth = /^[\p{Default_Ignorable_Code_Point}\p{Mark}]+$/v;

/** The number of terminal columns that the text takes. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (emoji.test(grapheme)) return 2;
  if (withoutWidth.test(grapheme)) return 0;
  // A grapheme of several letters, such as a Hangul syllable of single jamo, is drawn with the width of its first one.
  return eastAsianWidth(grapheme.codePointAt(0)!);
}

/** The text if it fits, otherwise as much of it as fits with `…` at its end. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return width < 1 ? "" : `${kept}…`;
}

export function padToWidth(text: string, width: number, align: "left" | "right" = "left"): string {
  const padding = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + padding : padding + text;
}
