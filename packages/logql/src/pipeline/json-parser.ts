/**
 * `json`: the members of an object become labels, those of nested objects with the names of both; arrays are skipped.
 * https://grafana.com/docs/loki/latest/query/log_queries/#json
 */
import { inputLimit } from "@sounding/promql/input-limit";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { failParser, freeName, maximumExtractedCharacters, withoutReplacements } from "./extracted-label.ts";
import { blockEnd, code, jsonProblems, skipSpace, stringEnd, tokenEnd, tokenKind, unescapeJson } from "./json-text.ts";
import { LabelNames } from "./label-names.ts";
import type { ParserHints } from "./parser-hints.ts";
import { charactersPerCheck, isPauseDue, runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage, Entry } from "./stage.ts";

const maximumLevels = inputLimit({
  area: "LogQL",
  bounds: "Levels of nesting of a JSON line that become labels",
  value: 256,
  error: { instead: "the entry has the label `__error__`" },
});

export function compileJsonParser(hints: ParserHints): CompiledStage {
  const names = new LabelNames();
  return {
    reads: [],
    process(entry, budget) {
      if (hints.needsNothing || hints.isDone(entry.labels)) return true;
      const found = runSteps(extract(entry, names, hints, budget));
      return found instanceof Promise
        ? found.then((problem) => report(entry, hints, problem))
        : report(entry, hints, found);
    },
  };
}

function report({ labels }: Entry, hints: ParserHints, problem: string | null): true {
  if (problem !== null) failParser(labels, hints, "JSONParserErr", problem);
  return true;
}

/** Sets the labels; what is wrong with the line, or null. */
function* extract(
  { labels, line }: Entry,
  names: LabelNames,
  hints: ParserHints,
  budget: YieldBudget,
): Steps<string | null> {
  let at = skipSpace(line, 0);
  if (line.charCodeAt(at) !== code.openBrace) return jsonProblems.object;
  /** The names of the objects around the position; the outermost has none. */
  const outer: string[] = [];
  let prefix = "";
  let extracted = 0;
  let checkAt = charactersPerCheck;
  at = skipSpace(line, at + 1);
  if (at === line.length) return jsonProblems.json;
  for (;;) {
    if (at > checkAt) {
      checkAt = at + charactersPerCheck;
      if (isPauseDue(charactersPerCheck, budget)) yield budget.yield();
    }
    let unit = line.charCodeAt(at);
    if (unit === code.quote) {
      const keyEnd = stringEnd(line, at + 1);
      if (keyEnd === -1) return jsonProblems.json;
      const rawKey = line.slice(at + 1, keyEnd);
      const key = unescapeJson(rawKey);
      if (key === undefined) return jsonProblems.escape;
      at = skipSpace(line, keyEnd + 1);
      if (line.charCodeAt(at) !== code.colon) return jsonProblems.json;
      at = skipSpace(line, at + 1);
      if (at === line.length) return jsonProblems.json;
      const name = prefix === "" ? names.name(key) : names.nested(prefix, key);
      unit = line.charCodeAt(at);
      if (unit === code.openBrace) {
        // The whole value must be complete before anything of it counts.
        const isOutermost = outer.length === 0;
        const isNeeded = hints.needsPrefix(name);
        if (isOutermost || !isNeeded) {
          const end = blockEnd(line, at);
          if (end === -1) return jsonProblems.object;
          if (!isNeeded) at = end;
        }
        if (isNeeded) {
          if (outer.length >= maximumLevels) return `the line has more than ${maximumLevels} levels of nesting`;
          outer.push(prefix);
          prefix = name;
          at = skipSpace(line, at + 1);
          continue;
        }
      } else if (unit === code.openBracket) {
        at = blockEnd(line, at);
        if (at === -1) return jsonProblems.array;
        if (hints.isDone(labels)) return null;
      } else {
        const from = at;
        let isNull = false;
        if (unit === code.quote) {
          at = stringEnd(line, from + 1) + 1;
          if (at === 0) return jsonProblems.string;
        } else {
          at = tokenEnd(line, from);
          const kind = tokenKind(line, from, at);
          if (kind === undefined) return jsonProblems.type;
          isNull = kind === "null";
        }
        const label = isNull || name === "" ? "" : freeName(labels, name);
        if (label !== "" && hints.needs(label) && !labels.wasParsed(label)) {
          const value = unit === code.quote ? stringValue(line.slice(from + 1, at - 1)) : line.slice(from, at);
          extracted += label.length + value.length;
          if (extracted > maximumExtractedCharacters) return "the line has too many labels";
          labels.setParsed(label, value);
          if (labels.isFull) return null;
        }
        if (hints.isDone(labels)) return null;
      }
    } else if (unit === code.closeBrace) {
      if (outer.length === 0) return null;
      prefix = outer.pop()!;
      at++;
    } else {
      return jsonProblems.object;
    }
    // Behind a value: a comma, or the end of the object.
    at = skipSpace(line, at);
    if (at === line.length) return jsonProblems.array;
    unit = line.charCodeAt(at);
    if (unit === code.comma) {
      at = skipSpace(line, at + 1);
      if (at === line.length) return jsonProblems.array;
    } else if (unit !== code.closeBrace) {
      return jsonProblems.object;
    }
  }
}

function stringValue(raw: string): string {
  const value = unescapeJson(raw);
  return value === undefined ? "" : withoutReplacements(value);
}
