/** Local engines read numbers, dates and abbreviations as words, and their boundaries still refer to the input. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { readerOf } from "../../src/engines/spoken-text/readers.ts";
import { openLocalEngines, recordingOf, speechCall } from "./local-engines.ts";
import { assertMarks } from "./assert-marks.ts";

const written =
  "On Jan 3rd, 2024 at 3:30 p.m., Dr. Smith of 5 Elm St. paid $1.5M (not €5) for 10 kg, e.g. to j.doe@example.co.uk.";
const said =
  "On January third, twenty twenty four at three thirty P-M, Doctor Smith of five Elm Street paid " +
  "one point five million dollars (not five euros) for ten kilograms, for example to J dot doe at example dot co dot U-K.";
const words =
  "On Jan 3rd 2024 at 3:30 p.m. Dr. Smith of 5 Elm St. paid $1.5M not €5 for 10 kg e.g. to j.doe@example.co.uk".split(
    " ",
  );
const { speakers, close } = openLocalEngines();
after(() => close());

for (const { name, model, skip } of speakers) {
  describe(`numbers by ${name}`, { skip }, () => {
    test("are spoken like the words for them", async () => {
      const voice = (await model.voices(new AbortController().signal))![0]!.name;
      const lengthOf = async (input: string): Promise<number> =>
        recordingOf(await Array.fromAsync(model.speak(speechCall(input, { voice })))).length;
      const [asNumbers, asWords] = [await lengthOf(written), await lengthOf(said)];
      // Phrases may be cut elsewhere.
      assert.ok(Math.abs(asNumbers / asWords - 1) < 0.06, `${asNumbers} and ${asWords} samples`);
    });

    test("have boundaries over what is written, one for each word", async () => {
      const voice = (await model.voices(new AbortController().signal))![0]!.name;
      const pieces = await Array.fromAsync(model.speak(speechCall(written, { voice })));
      assertMarks(written, pieces);
      const marks = pieces.flatMap((piece) => piece.marks.filter(({ kind }) => kind === "word"));
      assert.deepEqual(
        marks.map(({ offset, length }) => written.slice(offset, offset + length)),
        words,
      );
      const email = marks.at(-1)!;
      assert.ok(email.durationMs > 1_500, `the address takes ${email.durationMs} ms`);
    });
  });
}

test("the requested region decides which number of a date is the month", async () => {
  const { model } = speakers[0]!;
  const speak = async (input: string, language: string) =>
    recordingOf(await Array.fromAsync(model.speak(speechCall(input, { voice: "awb", language }))));
  const dayFirst = await speak("It is 3/4/2025.", "en-GB");
  assert.deepEqual(dayFirst, await speak("It is the third of April, twenty twenty five.", "en-GB"));
  assert.notDeepEqual(dayFirst, await speak("It is 3/4/2025.", "en-US"));
});

test("languages other than English are left to the engine, but for emoji, which are silent", () => {
  const text = "5 👍🏽 7";
  const emoji = { start: 2, end: 6, spoken: " " };
  for (const language of ["de", "fr-FR", "eng", "*", undefined]) assert.deepEqual(readerOf(language)(text), [emoji]);
  for (const language of ["en", "en-US", "en-gb-x-rp"]) {
    const found = readerOf(language)(text);
    assert.deepEqual(
      found.map(({ spoken }) => spoken),
      ["five", " ", "seven"],
    );
    assert.deepEqual(found[1], emoji);
  }
});
