/** The stages behind a pipe: parsers, formats, label filters, `drop` and `keep`. */
import { suggestion } from "@sounding/promql/syntax/closest-name";
import type { SourceRange } from "@sounding/promql/syntax/source-range";
import type { Extraction, LabelAssignment, LabelChoice, Stage } from "./ast.ts";
import { parseLabelFilter } from "./parse-label-filter.ts";
import { nextMatchOperator, parseMatcher } from "./parse-matcher.ts";
import type { TokenStream } from "./token-stream.ts";
import { stageWords } from "./token.ts";

/** The stage behind the pipe at `pipe`. */
export function parseStage(stream: TokenStream, pipe: SourceRange): Stage {
  const token = stream.peek();
  if (token.kind === "identifier" || stream.isNext("(")) {
    checkStageName(stream);
    return finished(stream, pipe, { kind: "label-filter", filter: parseLabelFilter(stream) });
  }
  if (token.kind !== "keyword") throw stream.unexpected("a stage or a label filter");
  switch (stream.next().text) {
    case "json":
      return finished(stream, pipe, { kind: "json", extractions: parseExtractions(stream) });
    case "logfmt": {
      const flags = parseFlags(stream);
      return finished(stream, pipe, { kind: "logfmt", extractions: parseExtractions(stream), ...flags });
    }
    case "regexp":
      return finished(stream, pipe, { kind: "regexp", expression: stream.expectKind("string").text });
    case "pattern":
      return finished(stream, pipe, { kind: "pattern", pattern: stream.expectKind("string").text });
    case "unpack":
      return finished(stream, pipe, { kind: "unpack" });
    case "decolorize":
      return finished(stream, pipe, { kind: "decolorize" });
    case "line_format":
      return finished(stream, pipe, { kind: "line-format", template: stream.expectKind("string").text });
    case "label_format":
      return finished(stream, pipe, { kind: "label-format", assignments: parseList(stream, parseAssignment) });
    case "drop":
    case "keep":
      return finished(stream, pipe, {
        kind: token.text as LabelChoice["kind"],
        labels: parseList(stream, parseChosenLabel),
      });
    default:
      throw stream.error(token, `syntax error: unexpected ${token.text}, expecting a stage or a label filter`);
  }
}

type WithoutPosition<Node> = Node extends Stage ? Omit<Node, "at"> : never;

function finished(stream: TokenStream, pipe: SourceRange, stage: WithoutPosition<Stage>): Stage {
  return Object.freeze({ ...stage, at: stream.rangeFrom(pipe) });
}

/** Reports a mistyped name of a stage as such: `| jsn`, where a label filter would need an operator. */
function checkStageName(stream: TokenStream): void {
  const token = stream.peek();
  const following = stream.peek(1);
  const isAlone = following.kind === "end" || following.kind === "range" || following.kind === "string";
  if (token.kind !== "identifier" || !(isAlone || stream.isNext("|", 1) || stream.isNext("|=", 1))) return;
  throw stream.error(token, `unknown stage ${JSON.stringify(token.text)}.${suggestion(token.text, stageWords)}`);
}

function parseList<Item>(stream: TokenStream, parseItem: (stream: TokenStream) => Item): readonly Item[] {
  const items: Item[] = [];
  do items.push(parseItem(stream));
  while (stream.takeIf(","));
  return Object.freeze(items);
}

function parseFlags(stream: TokenStream): { strict: boolean; keepEmpty: boolean } {
  const flags = new Set<string>();
  while (stream.peek().kind === "flag") flags.add(stream.next().text);
  return { strict: flags.has("--strict"), keepEmpty: flags.has("--keep-empty") };
}

function parseExtractions(stream: TokenStream): readonly Extraction[] {
  return stream.peek().kind === "identifier" ? parseList(stream, parseExtraction) : Object.freeze([]);
}

function parseExtraction(stream: TokenStream): Extraction {
  const label = stream.expectKind("identifier").text;
  const expression = stream.takeIf("=") ? stream.expectKind("string").text : label;
  return Object.freeze({ label, expression });
}

function parseAssignment(stream: TokenStream): LabelAssignment {
  const label = stream.expectKind("identifier").text;
  stream.expect("=");
  if (stream.peek().kind === "string") return Object.freeze({ kind: "template", label, template: stream.next().text });
  if (stream.peek().kind !== "identifier") throw stream.unexpected("IDENTIFIER or STRING");
  return Object.freeze({ kind: "rename", label, from: stream.next().text });
}

function parseChosenLabel(stream: TokenStream): LabelChoice["labels"][number] {
  const hasMatcher = nextMatchOperator(stream, 1) !== undefined;
  if (hasMatcher) return Object.freeze({ kind: "matcher", matcher: parseMatcher(stream) });
  return Object.freeze({ kind: "name", name: stream.expectKind("identifier").text });
}
