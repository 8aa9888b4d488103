/** `json label="expression"`: labels for chosen values of a JSON line, found in one pass over it. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Extraction } from "../syntax/ast.ts";
import type { EntryLabels } from "./entry-labels.ts";
import { failParser, freeName, withoutReplacements } from "./extracted-label.ts";
import { parseJsonPath } from "./json-path.ts";
import { blockEnd, code, jsonProblems, skipSpace, stringEnd, tokenEnd, tokenKind, unescapeJson } from "./json-text.ts";
import type { ParserHints } from "./parser-hints.ts";
import { isPauseDue, runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage } from "./stage.ts";

/** What the expressions ask for at one place of the document. */
interface Place {
  readonly labels: string[];
  readonly inside: Map<string | number, Place>;
}

/** @throws QueryError for an invalid expression */
export function compileJsonExpressions(extractions: readonly Extraction[], hints: ParserHints): CompiledStage {
  const root: Place = { labels: [], inside: new Map() };
  for (const { expression, label } of extractions) {
    let place = root;
    for (const step of parseJsonPath(expression)) {
      let inner = place.inside.get(step);
      if (inner === undefined) place.inside.set(step, (inner = { labels: [], inside: new Map() }));
      place = inner;
    }
    place.labels.push(label);
  }
  return {
    reads: [],
    process(entry, budget) {
      const { labels, line } = entry;
      if (line === "" || hints.needsNothing || hints.isDone(labels)) return true;
      if (!'"{['.includes(line[0]!)) {
        failParser(labels, hints, "JSONParserErr", null);
        return true;
      }
      const walk = new Walk(line, labels, budget);
      const finish = (): true => {
        if (walk.problem !== null) failParser(labels, hints, "JSONParserErr", walk.problem);
        for (const { label } of extractions) {
          if (labels.get(label) === undefined) labels.setParsed(label, "");
        }
        return true;
      };
      const found = runSteps(walk.inside(root, 0));
      return found instanceof Promise ? found.then(finish) : finish();
    },
  };
}

class Walk {
  /** What is wrong with a value that an expression asks for. */
  problem: string | null = null;
  readonly #line: string;
  readonly #labels: EntryLabels;
  readonly #budget: YieldBudget;
  readonly #found = new Set<Place>();

  constructor(line: string, labels: EntryLabels, budget: YieldBudget) {
    this.#line = line;
    this.#labels = labels;
    this.#budget = budget;
  }

  /** Looks for the inner places of a value; the position behind it, or -1 if the text is broken. */
  *inside(place: Place, from: number): Steps<number> {
    const line = this.#line;
    const isArray = line.charCodeAt(from) === code.openBracket;
    if (!isArray && line.charCodeAt(from) !== code.openBrace) return this.#valueEnd(from);
    const close = isArray ? code.closeBracket : code.closeBrace;
    let at = skipSpace(line, from + 1);
    let checked = from;
    for (let index = 0; at < line.length; index++) {
      if (line.charCodeAt(at) === close) return at + 1;
      let key: string | number | undefined = index;
      if (!isArray) {
        const end = line.charCodeAt(at) === code.quote ? stringEnd(line, at + 1) : -1;
        if (end === -1) return -1;
        key = unescapeJson(line.slice(at + 1, end));
        at = skipSpace(line, end + 1);
        if (key === undefined || line.charCodeAt(at) !== code.colon) return -1;
        at = skipSpace(line, at + 1);
      }
      const inner = place.inside.get(key);
      at = inner === undefined || this.#found.has(inner) ? this.#valueEnd(at) : yield* this.#take(inner, at);
      if (at === -1) return -1;
      if (isPauseDue(at - checked, this.#budget)) yield this.#budget.yield();
      checked = at;
      at = skipSpace(line, at);
      if (line.charCodeAt(at) === code.comma) at = skipSpace(line, at + 1);
      else if (line.charCodeAt(at) !== close) return -1;
    }
    return -1;
  }

  *#take(place: Place, from: number): Steps<number> {
    // Of members with the same name, the first one counts.
    this.#found.add(place);
    if (place.labels.length > 0) {
      const end = this.#valueEnd(from);
      if (end === -1) {
        if (isUnknown(this.#line, from)) this.problem = jsonProblems.type;
        return -1;
      }
      const value = this.#textOf(from, end);
      for (const label of place.labels) this.#labels.setParsed(freeName(this.#labels, label), value);
      if (place.inside.size === 0) return end;
    }
    return yield* this.inside(place, from);
  }

  /** The label's value for the JSON value between two positions. */
  #textOf(from: number, end: number): string {
    const line = this.#line;
    const unit = line.charCodeAt(from);
    if (unit === code.openBrace) return line.slice(from, end);
    if (line.startsWith("null", from) && end === from + 4) return "";
    const raw = unit === code.quote ? line.slice(from + 1, end - 1) : line.slice(from, end);
    return withoutReplacements(unescapeJson(raw) ?? "");
  }

  #valueEnd(from: number): number {
    const line = this.#line;
    const unit = line.charCodeAt(from);
    if (unit === code.quote) return stringEnd(line, from + 1) + 1 || -1;
    if (unit === code.openBrace || unit === code.openBracket) return blockEnd(line, from);
    const end = tokenEnd(line, from);
    return tokenKind(line, from, end) === undefined ? -1 : end;
  }
}

/** Whether what begins there is no JSON value, rather than one that does not end. */
function isUnknown(line: string, from: number): boolean {
  const unit = line.charCodeAt(from);
  return unit !== code.quote && unit !== code.openBrace && unit !== code.openBracket;
}
