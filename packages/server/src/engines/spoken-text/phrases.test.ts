import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, assert as check, constantFrom, double, oneof, property, record, string } from "fast-check";
import { JobQueue, type QueuedJob } from "../../scheduling/job-queue.ts";
import { phrasesOf } from "./phrases.ts";
import { sentencesOf, normalizeWhitespace } from "./sentences.ts";

const sentences = (text: string): string[] =>
  [...sentencesOf(normalizeWhitespace(text))].map(({ offset, length }) => text.slice(offset, offset + length));
const limits = { longest: 40, longestFirst: 15 };
const phrases = (text: string): string[] =>
  [...phrasesOf(normalizeWhitespace(text), limits)].map(({ offset, length }) => text.slice(offset, offset + length));

const anyText = oneof(
  string({ unit: "binary", maxLength: 200 }),
  string({
    unit: constantFrom(
      "a",
      "b",
      ".",
      " ",
      ",",
      "!",
      "\r",
      "\n",
      "\u0000",
      "\ud83d",
      "\ude00",
      "é",
      "—",
      '"',
      "Dr.",
      "x".repeat(60),
    ),
    maxLength: 60,
  }),
);

describe("sentences", () => {
  const cases: [what: string, text: string, expected: string[]][] = [
    ["end at full stops", "One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]],
    ["do not end after a title", "Dr. Smith met Mrs. Jones. They spoke.", ["Dr. Smith met Mrs. Jones.", "They spoke."]],
    [
      "do not end after an abbreviation inside them",
      "The U.S. Army took No. 5, e.g. Ann's. It was in the U.S. He left. No. That is all.",
      ["The U.S. Army took No. 5, e.g. Ann's.", "It was in the U.S.", "He left.", "No.", "That is all."],
    ],
    ["do not end inside an address", "See https://a.example/b?c=1. Now.", ["See https://a.example/b?c=1.", "Now."]],
    ["go on over a line break", "One line\r\nand another. End", ["One line\r\nand another.", "End"]],
    ["end at an empty line", "A heading\r\n\r\nText", ["A heading", "Text"]],
    [
      "end at items of lists, headings and rows of tables",
      "# A list\nof\n- one\n- two\nlines\n1. first\n| a | b |\n|---|---|\nEnd",
      ["# A list", "of", "- one", "- two\nlines", "1. first", "| a | b |", "|---|---|", "End"],
    ],
    ["go on over a line break before a negative number", "It was\n-5 degrees.", ["It was\n-5 degrees."]],
    ["do not end before the number of a flat", "Live in Apt. 5B now.", ["Live in Apt. 5B now."]],
    ["of other scripts end without white space", "你好。再见。", ["你好。", "再见。"]],
    ["are none in white space", " \n\n\t", []],
  ];
  for (const [what, text, expected] of cases) {
    test(`sentences ${what}`, () => assert.deepEqual(sentences(text), expected));
  }

  test("a sentence without an end is split", () => {
    const parts = sentences("word ".repeat(1_000));
    assert.ok(parts.length > 4 && parts.every((part) => part.length <= 1_000));
  });
});

describe("phrases that grow", () => {
  const grown = (text: string): string[] =>
    [...phrasesOf(normalizeWhitespace(text), { longest: 160, longestFirst: 40, grows: true })].map(
      ({ offset, length }) => text.slice(offset, offset + length),
    );
  const story =
    "Well, this is a long and winding story that begins in a small house near the coast and ends in the city, many years later and with other people, of whom nobody had heard before.";

  test("begin short, and end at pauses or before words that may follow one", () => {
    const found = grown(`${story} ${story}`);
    assert.deepEqual(found.slice(0, 4), [
      "Well, this is a long",
      "and winding story that begins",
      "in a small house near the coast and ends in the city,",
      "many years later and with other people, of whom nobody had heard before.",
    ]);
    assert.deepEqual(
      grown("She put the letter on the table, and went out of the house.")[0],
      "She put the letter on the table,",
    );
    assert.ok(
      found.some(({ length }) => length > 100),
      found.join("|"),
    );
  });

  test("are short at first without a pause, too", () => {
    const [first = ""] = grown("One two three four five six seven eight nine ten ".repeat(20));
    assert.ok(first.length > 20 && first.length <= 60, first);
  });

  test("let no player wait whose engine speaks twice as fast as real time", () => {
    check(
      property(array(string({ unit: constantFrom("a", "be", " ", " and ", ", ", ". "), maxLength: 300 })), (parts) => {
        let ready = 0;
        let played: number | undefined;
        for (const { length } of grown(parts.join(" "))) {
          ready += length / 2;
          // Shorter phrases than these take no time that anybody hears.
          if (played !== undefined) assert.ok(ready - played <= 60, `${ready - played} characters late`);
          played = Math.max(ready, played ?? ready) + length;
        }
      }),
    );
  });
});

describe("calls of one engine that speaks eight times as fast as real time", () => {
  /** Characters in a second of speech. */
  const pace = 18;
  const story =
    "Well, this is a long and winding story that begins in a small house near the coast and ends in the city, many years later and with other people, of whom nobody had heard before. ";
  const plain =
    "The train to the city leaves at nine in the morning. She put the letter on the table and went out of the house. ";

  /** When each call hears something, and how long it then waits at most, in seconds. */
  function play(calls: readonly { readonly text: string; readonly start: number }[]) {
    const queue = new JobQueue<QueuedJob & { run(now: number): number }>();
    const arriving = calls.map(({ text, start }) => {
      const phrases = phrasesOf(normalizeWhitespace(text), { longest: 160, longestFirst: 40, grows: true });
      const heard = { first: Infinity, wait: 0 };
      let played: number | undefined;
      const push = (now: number): void => {
        const { value: phrase } = phrases.next();
        if (phrase === undefined) return;
        const run = (begin: number): number => {
          const seconds = phrase.length / pace;
          const end = begin + seconds / 8;
          if (played === undefined) heard.first = end - start;
          else heard.wait = Math.max(heard.wait, end - played);
          played = Math.max(end, played ?? end) + seconds;
          push(end);
          return end;
        };
        queue.push({ first: played === undefined, group: "", dueMs: 1000 * (played ?? now), run, reject: () => {} });
      };
      return { start, push, heard };
    });
    const results = arriving.map(({ heard }) => heard);
    arriving.sort((one, other) => one.start - other.start);
    for (let now = 0; ;) {
      while (arriving.length > 0 && arriving[0]!.start <= now) arriving.shift()!.push(now);
      const job = queue.next();
      if (job !== undefined) now = job.run(now);
      else if (arriving.length > 0) now = arriving[0]!.start;
      else return results;
    }
  }

  test("start soon and do not wait, three at a time, whenever each of them begins", () => {
    // While "Sure." is played, nobody can end the phrase of another call.
    const text = constantFrom(story.repeat(10), plain.repeat(15), `Sure. ${plain.repeat(10)}`);
    const call = record({ text, start: double({ min: 0, max: 20, noNaN: true }) });
    check(
      property(array(call, { minLength: 3, maxLength: 3 }), (calls) => {
        for (const [index, { first, wait }] of play(calls).entries()) {
          assert.ok(first <= 2.5, `the first phrase comes after ${first} s`);
          const most = calls[index]!.text.startsWith("Sure.") ? 1.2 : 0.1;
          assert.ok(wait <= most, `the call waits ${wait} s`);
        }
      }),
    );
  });
});

describe("phrases", () => {
  test("are cut by the length of what is spoken, never inside a rewrite", () => {
    const text = "Well, call 5, 6, 7 and then 8 or 9 now.";
    const rewrite = (sentence: string) =>
      [...sentence.matchAll(/5, 6, 7|8|9/g)].map(({ 0: found, index }) => ({
        start: index,
        end: index + found.length,
        spoken: "x".repeat(30),
      }));
    const found = [...phrasesOf(text, { ...limits, rewrite })];
    assert.deepEqual(
      found.map(({ offset, length }) => text.slice(offset, offset + length)),
      ["Well,", "call 5, 6, 7 and", "then 8 or", "9 now."],
    );
    assert.deepEqual(
      found.map(({ rewrites }) => rewrites.map(({ start, end }) => text.slice(start, end))),
      [[], ["5, 6, 7"], ["8"], ["9"]],
    );
  });

  test("the first phrase ends at an early pause, later ones only at their maximum length", () => {
    assert.deepEqual(phrases("Well, hello there. This, too, is one piece of text."), [
      "Well,",
      "hello there.",
      "This, too, is one piece of text.",
    ]);
  });

  test("every audible character is in exactly one phrase, in order, for any text", () => {
    check(
      property(anyText, (text) => {
        const readable = normalizeWhitespace(text);
        assert.equal(readable.length, text.length);
        let end = 0;
        for (const { offset, length, sentence } of phrasesOf(readable, limits)) {
          assert.equal(readable.slice(end, offset).trim(), "");
          assert.ok(length > 0 && offset >= end);
          assert.ok(sentence === undefined || sentence.offset === offset);
          assert.ok(readable.slice(offset, offset + length).isWellFormed());
          end = offset + length;
        }
        assert.equal(readable.slice(end).trim(), "");
      }),
    );
  });

  test("a word without an end is split between characters", () => {
    const all = phrases("e\u0301".repeat(500));
    assert.ok(all.length > 20);
    for (const each of all) assert.ok(each.length <= limits.longest && each.startsWith("e") && each.endsWith("\u0301"));
  });
});
