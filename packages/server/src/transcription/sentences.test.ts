/** Sentences from pauses: deltas stay consistent with their segment, and text with its own punctuation is unchanged. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { delta, segment } from "../../test/support/scripted-transcription.ts";
import type { TranscribedDelta, TranscribedSegment } from "../engines/engine.ts";
import { inSentences } from "./sentences.ts";

type Item = TranscribedDelta | TranscribedSegment;

async function* flow(items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items;
}

async function texts(...items: Item[]): Promise<string[]> {
  return (await Array.fromAsync(inSentences(flow(items)))).map(({ text }) => text);
}

const cases: [name: string, items: Item[], expected: string[]][] = [
  ["capitals and stops", [segment("good morning"), segment("and to you")], ["Good morning.", "And to you."]],
  [
    "deltas that begin the segment",
    [delta("good"), delta(" mor"), segment("good morning")],
    ["Good", " mor", "Good morning."],
  ],
  ["spaces around", [delta(" good"), segment(" good day ")], [" Good", " Good day."]],
  ["a delta of nothing", [delta(" "), delta("good"), segment(" good")], [" ", "Good", " Good."]],
  ["letters with marks", [segment("été")], ["Été."]],
  ["text that has sentences", [segment("Good morning."), segment("and to you")], ["Good morning.", "and to you"]],
  ["signs inside", [segment("one. two")], ["one. two"]],
  ["scripts without capitals", [segment("早上好")], ["早上好"]],
  ["numbers", [segment("42")], ["42"]],
  ["nothing", [segment("")], [""]],
];
for (const [name, items, expected] of cases) {
  test(name, async () => assert.deepEqual(await texts(...items), expected));
}
