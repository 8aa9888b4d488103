import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { rewritten } from "../spoken-text.ts";
import { readEnglish } from "./read-english.ts";
import { propertyRuns } from "../../../../../../test/support/property-runs.ts";

function spoken(text: string, language = "en-US"): string {
  return rewritten(text, { offset: 0, length: text.length }, readEnglish(text, language)).text;
}

/** What is written, and what is spoken in American English. */
const cases: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  money: [
    ["$5", "five dollars"],
    ["$1", "one dollar"],
    ["$3.50", "three dollars and fifty cents"],
    ["$1.01", "one dollar and one cent"],
    ["$5.00", "five dollars"],
    ["$0.99", "ninety nine cents"],
    ["$1.5M", "one point five million dollars"],
    ["$3 million", "three million dollars"],
    ["$3B, $4k", "three billion dollars, four thousand dollars"],
    ["$1,234.56", "one thousand two hundred thirty four dollars and fifty six cents"],
    ["-$3 and $-3", "minus three dollars and minus three dollars"],
    ["$5-10", "five to ten dollars"],
    ["$20/month", "twenty dollars per month"],
    ["$100+", "one hundred dollars plus"],
    ["€5", "five euros"],
    ["£3.50", "three pounds and fifty pence"],
    ["£0.01", "one penny"],
    ["¥1000", "one thousand yen"],
    ["₹500", "five hundred rupees"],
    ["99¢", "ninety nine cents"],
    ["5 €", "five euros"],
    ["5,99 €", "five euros and ninety nine cents"],
    ["A$4, HK$6", "four Australian dollars, six Hong Kong dollars"],
    ["USD 20", "twenty U-S dollars"],
    ["20 EUR", "twenty euros"],
    ["a $5-a-day plan, $2k-a-month", "a five dollar a day plan, two thousand dollar a month"],
    ["¢12", "twelve cents"],
    ["1.234,56 €", "one thousand two hundred thirty four euros and fifty six cents"],
    ["($3.50).", "(three dollars and fifty cents)."],
  ],
  "dates and years": [
    ["Jan 3rd, 2024", "January third, twenty twenty four"],
    ["January 3, 2024", "January third, twenty twenty four"],
    ["Jan. 5", "January fifth"],
    ["Dec 24-26", "December twenty fourth to twenty sixth"],
    ["3 January 2024", "the third of January twenty twenty four"],
    ["the 3rd of May", "the third of May"],
    ["May 2024", "May twenty twenty four"],
    ["You may 5", "You may five"],
    ["12/25/2024", "December twenty fifth, twenty twenty four"],
    ["25/12/2024", "December twenty fifth, twenty twenty four"],
    ["3/4/99", "March fourth, nineteen ninety nine"],
    ["2024-12-25", "December twenty fifth, twenty twenty four"],
    ["31.12.1999", "December thirty first, nineteen ninety nine"],
    ["2024-12-31T10:30", "December thirty first, twenty twenty four at ten thirty"],
    ["2024-13-45", "twenty twenty four thirteen forty five"],
    ["Mon, Jan 3", "Monday, January third"],
    ["Tues. evening", "Tuesday evening"],
    ["The sun and the cat sat.", "The sun and the cat sat."],
    ["in 2024", "in twenty twenty four"],
    ["in 1905", "in nineteen oh five"],
    ["since 1900", "since nineteen hundred"],
    ["in 2000 and 2009", "in two thousand and two thousand nine"],
    ["2024 votes", "two thousand twenty four votes"],
    ["the 2024 results", "the twenty twenty four results"],
    ["2,024", "two thousand twenty four"],
    ["5000", "five thousand"],
    ["the 1990s and '80s", "the nineteen nineties and 'eighties"],
    ["on 2024/12/25", "on December twenty fifth, twenty twenty four"],
    ["the 30s", "the thirties"],
    ["the 300s", "the three hundreds"],
    ["the 300s timeout", "the three hundred seconds timeout"],
    ["1939–45", "nineteen thirty nine to forty five"],
  ],
  times: [
    ["3:30pm", "three thirty P-M"],
    ["3:30 p.m. today", "three thirty P-M today"],
    ["at 3 PM.", "at three P-M."],
    ["7am", "seven A-M"],
    ["15:45", "fifteen forty five"],
    ["10:00", "ten o'clock"],
    ["12:05", "twelve oh five"],
    ["17:00", "seventeen hundred"],
    ["9am-5pm", "nine A-M to five P-M"],
    ["9-5pm", "nine to five P-M"],
    ["9:30-10:15", "nine thirty to ten fifteen"],
    ["7.30pm or 7.30 p.m. sharp", "seven thirty P-M or seven thirty P-M sharp"],
    ["at 14.30, at 9.05 on Monday", "at fourteen thirty, at nine oh five on Monday"],
    ["at 3.14 percent", "at three point one four percent"],
    ["3:1 and 16:9", "three to one and sixteen to nine"],
    ["25:00", "twenty five to zero zero"],
  ],
  units: [
    ["10 kg", "ten kilograms"],
    ["1 kg", "one kilogram"],
    ["10kg.", "ten kilograms."],
    ["60 mph", "sixty miles per hour"],
    ["32°F", "thirty two degrees Fahrenheit"],
    ["-5 °C", "minus five degrees Celsius"],
    ["50%", "fifty percent"],
    ["0.5%", "zero point five percent"],
    ["10-12 km", "ten to twelve kilometers"],
    ["100 km/h", "one hundred kilometers per hour"],
    ["5 m²", "five square meters"],
    ["2 dL, 3 cL, 5 μg", "two deciliters, three centiliters, five micrograms"],
    ["100 ºC", "one hundred degrees Celsius"],
    ["per m² or in km²", "per square meter or in square kilometers"],
    ["20 sq ft", "twenty square feet"],
    ["5 ft 3 in", "five feet three inches"],
    ["5'10\"", "five feet ten inches"],
    ["6′ 2″", "six feet two inches"],
    ["90° 5′ 30″", "ninety degrees five minutes thirty seconds"],
    ["I have 3 in stock", "I have three in stock"],
    ["16GB at 3.2 GHz", "sixteen gigabytes at three point two gigahertz"],
    ["5 min.", "five minutes."],
    ["5 min. ago", "five minutes ago"],
    ["30s", "thirty seconds"],
    ["~10 kg", "about ten kilograms"],
    ["3x4", "three by four"],
    ["1.5M users", "one point five million users"],
    ["10k", "ten thousand"],
    ["4K", "four K"],
  ],
  numbers: [
    ["0", "zero"],
    ["-5", "minus five"],
    ["3.14", "three point one four"],
    [".5", "zero point five"],
    ["1,234,567", "one million two hundred thirty four thousand five hundred sixty seven"],
    ["1000000", "one million"],
    ["1234567890", "one two three four five six seven eight nine zero"],
    ["007", "zero zero seven"],
    ["1st, 2nd, 3rd", "first, second, third"],
    ["21st and 100th", "twenty first and one hundredth"],
    ["20th-century", "twentieth century"],
    ["1/2", "one half"],
    ["3/4 and 2/3", "three quarters and two thirds"],
    ["22/7", "twenty two over seven"],
    ["1 1/2", "one and a half"],
    ["2½ or ¼", "two and a half or one quarter"],
    ["24/7", "twenty four seven"],
    ["10-12", "ten to twelve"],
    ["#4", "number four"],
    ["v1.2.3", "version one point two point three"],
    ["192.168.0.1", "one nine two dot one six eight dot zero dot one"],
    ["1.2.3-beta.4", "one point two point three beta four"],
    ["2+2=4", "two plus two equals four"],
    ["1e10", "one times ten to the ten"],
    ["COVID-19, B12, A4, MP3", "COVID nineteen, B-twelve, A-four, MP three"],
    ["a 10-year-old", "a ten year old"],
    ["1.5x and 2.5D", "one point five x and two point five D"],
    ["1.234.567 people", "one million two hundred thirty four thousand five hundred sixty seven people"],
    ["1'000 and 1’000’000", "one thousand and one million"],
    [
      "1 234 567 people, 10 000 cars",
      "one million two hundred thirty four thousand five hundred sixty seven people, ten thousand cars",
    ],
    ["rooms 12 345", "rooms twelve three hundred forty five"],
    ["x² and y³", "x squared and y cubed"],
    ["E = mc²", "E equals m c squared"],
    ["10⁻", "ten⁻"],
    ["10³ and 2¹⁰", "ten cubed and two to the power of ten"],
    ["H₂O and C₆H₁₂O₆", "H two O and C six H twelve O six"],
    ["√9 = 3", "the square root of nine equals three"],
  ],
  "telephone numbers": [
    ["+1 (555) 123-4567", "plus one (five five five) one two three, four five six seven"],
    ["(555) 123-4567", "(five five five) one two three, four five six seven"],
    ["555-123-4567", "five five five, one two three, four five six seven"],
    ["+44 20 7946 0958", "plus four four two zero seven nine four six zero nine five eight"],
    ["Call 1300 555 019 now.", "Call one three zero zero five five five zero one nine now."],
    ["Call (020) 7946 0958.", "Call (zero two zero) seven nine four six zero nine five eight."],
    ["01234 567890", "zero one two three four five six seven eight nine zero"],
    ["text 555 019 123", "text five five five zero one nine one two three"],
    ["0800 123 456", "zero eight zero zero one two three four five six"],
    [
      "+1 (555) 123-4567 ext. 89!",
      "plus one (five five five) one two three, four five six seven extension eight nine!",
    ],
  ],
  "addresses and names": [
    ["https://example.com/a?b=c", "example dot com slash A question mark B equals C"],
    ["www.example.co.uk.", "W-W-W dot example dot co dot U-K."],
    ["j.doe@example.co.uk", "J dot doe at example dot co dot U-K"],
    ["node.js", "node dot J-S"],
    ["the end.Next one", "the end.Next one"],
    ["/usr/local/bin", "slash usr slash local slash bin"],
    ["C:\\Users\\ann", "C colon backslash Users backslash ann"],
    ["#ThrowbackThursday", "hashtag Throwback Thursday"],
    ["@sounding_dev", "at sounding dev"],
  ],
  abbreviations: [
    ["Dr. Smith", "Doctor Smith"],
    ["12 Elm Dr. is near", "twelve Elm Drive is near"],
    ["St. John St. is on St. James St.", "Saint John Street is on Saint James Street."],
    ["Mr. and Mrs. Jones", "Mister and Missus Jones"],
    ["No. 5", "number five"],
    ["No. That is wrong.", "No. That is wrong."],
    ["pp. 6-7, Fig. 2", "pages six to seven, figure two"],
    ["e.g. this, i.e. that", "for example this, that is that"],
    ["nuts, etc.", "nuts, et cetera."],
    ["cats vs. dogs", "cats versus dogs"],
    ["the U.S. army", "the U-S army"],
    ["the U.S.", "the U-S."],
    ["C++ and C#", "C plus plus and C sharp"],
    ["AT&T", "AT and T"],
    ["w/o sugar", "without sugar"],
    ["Acme Inc. grew", "Acme Incorporated grew"],
  ],
  "Roman numerals": [
    ["Chapter IV", "Chapter four"],
    ["Henry VIII", "Henry the eighth"],
    ["World War II", "World War two"],
    ["XIV", "fourteen"],
    ["the XIX century", "the nineteenth century"],
    ["Act Ⅳ, Scene Ⅸ", "Act four, Scene nine"],
    ["I am, mix, DIM, IV drip, Vitamin C", "I am, mix, DIM, IV drip, Vitamin C"],
  ],
  Markdown: [
    ["**bold** and _soft_ and `code`", "bold and soft and code"],
    ["## Title", " Title"],
    ["- an item", "an item"],
    ["See [the docs](https://example.com/2024/a) and [5](b).", "See the docs and five."],
    ["| Name | Age |", " Name , Age "],
    ["|------|:---:|", ""],
    ["snake_case 2 * 3", "snake_case two * three"],
  ],
  comparisons: [
    ["5 > 3 and x < y", "five is greater than three and x is less than y"],
    [
      "x ≥ 2, x ≤ 9 and a != b",
      "x is greater than or equal to two, x is less than or equal to nine and a is not equal to b",
    ],
    ["File > Open", "File > Open"],
    [">5 and ≥2", "more than five and at least two"],
  ],
  "character references": [["Q &amp; A, 3 &lt; 5, it&#39;s", "Q  and  A, three  less than  five, it's"]],
  interjections: [
    ["Hmm, wait. Shh! Psst.", "hum, wait. shush! pist."],
    ["I am in the room, Pam", "I am in the room, Pam"],
  ],
};

for (const [kind, ofKind] of Object.entries(cases)) {
  describe(kind, () => {
    for (const [written, expected] of ofKind) {
      test(`${written} is read as it is said`, () => assert.equal(spoken(written), expected));
    }
  });
}

test("British English reads the day first, and says 'and'", () => {
  assert.equal(spoken("3/4/2025", "en-GB"), "the third of April, twenty twenty five");
  assert.equal(spoken("12/25/2024", "en-GB"), "the twenty fifth of December, twenty twenty four");
  assert.equal(spoken("Jan 3", "en-GB"), "January the third");
  assert.equal(spoken("1,234", "en-GB"), "one thousand two hundred and thirty four");
  assert.equal(spoken("3/4/2025", "en-AU"), "the third of April, twenty twenty five");
  assert.equal(spoken("3/4/2025", "en-us-nyc"), "March fourth, twenty twenty five");
});

test("plain words stay as they are, and so does what is spoken", () => {
  const words = 'It was late in the evening when they reached the village; nobody, not even Ann, had expected "them".';
  assert.deepEqual(readEnglish(words, "en-US"), []);
  for (const [, said] of Object.values(cases).flat()) {
    if (/^[A-Za-z ,.'-]+$/.test(said) && !/No\. That|end\.Next/.test(said)) assert.equal(spoken(said), said);
  }
});

const pieces = fc.constantFrom(
  ...Object.values(cases).flatMap((ofKind) => ofKind.map(([written]) => written)),
  ..."$ € 5 12 2024 . , : / - – ( ) ' \" % ° kg ft in Jan 3rd No St Dr U.S am p.m. IV 1/2 http:// @ # ** ` + = ~ 😀 é".split(
    " ",
  ),
);
const hostile = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(" ")),
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "grapheme", maxLength: 200 }),
);

test("rewrites of any text are in order, do not overlap, and every spoken word has a place in it", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      let cursor = 0;
      const rewrites = readEnglish(text, "en-US");
      for (const { start, end } of rewrites) {
        assert.ok(
          start >= cursor && end > start && end <= text.length,
          `${start} to ${end} in ${JSON.stringify(text)}`,
        );
        cursor = end;
      }
      const { text: said, source } = rewritten(text, { offset: 0, length: text.length }, rewrites);
      assert.doesNotMatch(said, /\d/, "no digit is left to the engine");
      let before = 0;
      for (const { 0: word, index } of said.matchAll(/\S+/g)) {
        const { offset, length } = source(index, index + word.length);
        assert.ok(
          length > 0 && offset >= before && offset + length <= text.length,
          `${word} in ${JSON.stringify(text)}`,
        );
        before = offset;
      }
    }),
    { numRuns: propertyRuns(2000) },
  );
});

// Catastrophic backtracking would not end.
test("a repetition of anything is read to its end", () => {
  const units = [
    "1",
    "$",
    "$1",
    "1/",
    "1-",
    "1.",
    "1,",
    "+1 ",
    "(555) ",
    "a.",
    "I",
    "@",
    "a/",
    "*",
    "`",
    "'",
    "5'",
    "°",
    "1:",
  ];
  for (const unit of [
    ...units,
    "e1",
    "12 kg ",
    "Jan 3 ",
    "www.",
    "http://",
    "a@",
    "C:\\",
    "\\",
    "½",
    "v1",
    "&",
    "é1",
    "| ",
    "|-",
    "[a](",
    "[a](b)",
    "&amp;",
    "1 234 ",
    "√",
    "1²",
    "x < ",
    "at 1.30 ",
  ]) {
    const text = unit.repeat(Math.ceil(16_000 / unit.length));
    const { text: said } = rewritten(text, { offset: 0, length: text.length }, readEnglish(text, "en-US"));
    assert.doesNotMatch(said, /\d/, unit);
  }
});
