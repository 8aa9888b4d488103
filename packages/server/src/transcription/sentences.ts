/**
 * Adds capitals and periods to the segments of engines that write lower case without punctuation. A pause ends a segment.
 * Words keep their spelling.
 */
import type { TranscribedDelta, TranscribedSegment } from "../engines/engine.ts";

type Item = TranscribedDelta | TranscribedSegment;

/** Changes nothing from the first segment on that has capitals or punctuation, or a script without capitals. */
export async function* inSentences(items: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
  let isPlain = true;
  /** Whether part of the segment was sent. */
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

/** Whether the text is lower case without punctuation, or empty. */
function beginsPlain(text: string): boolean {
  const first = /\S/u.exec(text)?.[0];
  return first === undefined || (/\p{Ll}/u.test(first) && !/\p{Lu}|[.?!]/u.test(text));
}

function capitalized(text: string): string {
  return text.replace(/\S/u, (first) => first.toUpperCase());
}
