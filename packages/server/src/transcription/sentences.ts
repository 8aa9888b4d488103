/**
 * Text that is easier to read, from engines that write lower case without signs: a segment, which a pause ends, begins with a
 * capital and ends with a full stop. Nothing else is guessed; words keep their spelling.
 */
import type { TranscribedDelta, TranscribedSegment } from "../engines/engine.ts";

type Item = TranscribedDelta | TranscribedSegment;

/** Leaves everything as it is from the first segment on that begins with a capital or a sign, or in a script without capitals. */
export async function* inSentences(items: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
  let isPlain = true;
  /** Whether a part of the segment was told. */
  let begun = false;
  for await (const item of items) {
    if (!begun) isPlain &&= beginsPlain(item.text);
    if (!isPlain) {
      yield item;
      continue;
    }
    if (item.kind === "delta") {
      yield begun ? item : { ...item, text: capitalized(item.text) };
      begun ||= item.text.trim() !== "";
      continue;
    }
    begun = false;
    const text = capitalized(item.text);
    yield text.trim() === "" ? item : { ...item, text: /[.?!…]\s*$/.test(text) ? text : `${text.trimEnd()}.` };
  }
}

/** Whether the text begins with a small letter, or with nothing that says what it begins with. */
function beginsPlain(text: string): boolean {
  const first = /\S/u.exec(text)?.[0];
  return first === undefined || (/\p{Ll}/u.test(first) && !/\p{Lu}|[.?!]/u.test(text));
}

function capitalized(text: string): string {
  return text.replace(/\S/u, (first) => first.toUpperCase());
}
