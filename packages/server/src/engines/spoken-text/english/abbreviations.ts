/** Reads abbreviations: titles, streets, Latin, references, `U.S.`, `C++`, `w/o`. */
import { isCapitalized, one, say, sayAbbreviation, type Reading, type Sentence, type Token } from "./tokens.ts";

/** Only with a full stop. */
const dotted: Readonly<Record<string, string>> = {
  Mr: "Mister",
  Mrs: "Missus",
  Ms: "Miz",
  Messrs: "Messieurs",
  Prof: "Professor",
  Rev: "Reverend",
  Hon: "Honorable",
  Gen: "General",
  Col: "Colonel",
  Maj: "Major",
  Capt: "Captain",
  Cmdr: "Commander",
  Lt: "Lieutenant",
  Sgt: "Sergeant",
  Gov: "Governor",
  Sen: "Senator",
  Rep: "Representative",
  Pres: "President",
  Jr: "Junior",
  Sr: "Senior",
  Mt: "Mount",
  Ft: "Fort",
  Ave: "Avenue",
  Blvd: "Boulevard",
  Rd: "Road",
  Hwy: "Highway",
  Pkwy: "Parkway",
  Sq: "Square",
  Apt: "Apartment",
  Inc: "Incorporated",
  Ltd: "Limited",
  Corp: "Corporation",
  Co: "Company",
  Bros: "Brothers",
  Dept: "Department",
  dept: "department",
  Univ: "University",
  Assn: "Association",
  approx: "approximately",
  Approx: "approximately",
  est: "established",
  max: "maximum",
  misc: "miscellaneous",
  incl: "including",
  excl: "excluding",
  cf: "compare",
  viz: "namely",
  ca: "circa",
};
/** With or without a full stop. */
const anyway: Readonly<Record<string, string>> = {
  etc: "et cetera",
  vs: "versus",
  "e.g": "for example",
  eg: "for example",
  "E.g": "for example",
  "i.e": "that is",
  ie: "that is",
  "I.e": "that is",
  "a.k.a": "also known as",
  "Ph.D": "P-H-D",
  PhD: "P-H-D",
  "w/o": "without",
  "w/": "with",
  "n/a": "N-A",
  "N/A": "N-A",
  "and/or": "and or",
  "he/she": "he or she",
  "she/he": "she or he",
  "his/her": "his or her",
  "s/he": "he or she",
  "C++": "C plus plus",
  "C#": "C sharp",
  "F#": "F sharp",
  ".NET": "dot net",
};
/** Before a number. */
const beforeNumber: Readonly<Record<string, string>> = {
  No: "number",
  no: "number",
  Nos: "numbers",
  nos: "numbers",
  Nr: "number",
  Fig: "figure",
  fig: "figure",
  Figs: "figures",
  Vol: "volume",
  vol: "volume",
  Ch: "chapter",
  ch: "chapter",
  Sec: "section",
  sec: "section",
  Art: "article",
  Eq: "equation",
  Ex: "example",
  p: "page",
  pp: "pages",
  ext: "extension",
  Ext: "extension",
  Rm: "room",
};

export function readAbbreviation(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const { text } = token;
  const ofNumber = numberedThing(sentence, index);
  if (ofNumber !== undefined) return ofNumber;
  if (text === "St" || text === "Dr") return streetOrName(sentence, index);
  if (Object.hasOwn(anyway, text)) return read(sentence, index, anyway[text]!);
  if (token.after.startsWith(".") && Object.hasOwn(dotted, text)) return read(sentence, index, dotted[text]!);
  // U.S. and J.R.R., but not the last letter of a sentence.
  if (/^(?:[A-Za-z]\.){1,6}[A-Za-z]$/.test(text)) return read(sentence, index, text.toUpperCase().replaceAll(".", "-"));
  return symbol(token);
}

function read(sentence: Sentence, index: number, spoken: string): Reading {
  return { rewrites: [sayAbbreviation(sentence, index, spoken)], count: 1 };
}

/** `No. 5`, `pp. 6-7`, `Fig. 2a`. */
function numberedThing(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const next = sentence.tokens[index + 1];
  if (next === undefined || token.after !== "." || !Object.hasOwn(beforeNumber, token.text)) return undefined;
  if (!/^\d/.test(next.text)) return undefined;
  return read(sentence, index, beforeNumber[token.text]!);
}

/** Words that begin a sentence more often than they are names. */
const starters =
  /^(?:A|An|And|As|At|But|By|For|From|He|Her|His|How|I|If|In|It|Its|My|No|On|Or|Our|She|So|That|The|Their|Then|There|These|They|This|To|Turn|Was|We|What|When|Where|Who|With|You|Your)$/;

/** "St." is a saint before a name and a street after one; "Dr." a doctor or a drive likewise. */
function streetOrName(sentence: Sentence, index: number): Reading | undefined {
  const { tokens } = sentence;
  const token = tokens[index]!;
  const [previous, next] = [tokens[index - 1], tokens[index + 1]];
  const [street, name] = token.text === "St" ? ["Street", "Saint"] : ["Drive", "Doctor"];
  const namesNext = next !== undefined && /^[A-Z]/.test(next.text) && !starters.test(next.text) && token.after !== ",";
  const afterName =
    previous !== undefined &&
    previous.after === "" &&
    (isCapitalized(previous) || /^\d+(?:st|nd|rd|th)$/.test(previous.text));
  const isTitle = afterName && (starters.test(previous.text) || Object.hasOwn(dotted, previous.text));
  if (afterName && !isTitle && !namesNext) return read(sentence, index, street);
  if (namesNext) return read(sentence, index, name);
  return token.after.startsWith(".") && token.text === "Dr" ? read(sentence, index, name) : undefined;
}

const alone: Readonly<Record<string, string>> = {
  "&": "and",
  "+": "plus",
  "=": "equals",
  "@": "at",
  "×": "times",
  "÷": "divided by",
  "%": "percent",
  "±": "plus or minus",
};

/** `AT&T`, ` & `, `@`, `+`, `=` on their own. */
function symbol(token: Token): Reading | undefined {
  if (Object.hasOwn(alone, token.text)) return one(token, alone[token.text]!);
  if (!/^[A-Za-z]+(?:&[A-Za-z]+)+$/.test(token.text)) return undefined;
  return { rewrites: [say(token, token.text.replaceAll("&", " and "))], count: 1 };
}
