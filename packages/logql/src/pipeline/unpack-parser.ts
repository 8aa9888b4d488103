/**
 * `unpack`: the opposite of Promtail's pack stage: labels from the members of an object, and the line from `_entry`.
 * https://grafana.com/docs/loki/latest/query/log_queries/#unpack
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { failParser, freeName, withoutReplacements } from "./extracted-label.ts";
import { blockEnd, code, jsonProblems, skipSpace, stringEnd, tokenEnd, tokenKind, unescapeJson } from "./json-text.ts";
import { toLabelName } from "./label-names.ts";
import type { ParserHints } from "./parser-hints.ts";
import { isPauseDue, runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage, Entry } from "./stage.ts";

const entryKey = "_entry";

export function compileUnpackParser(hints: ParserHints): CompiledStage {
  return {
    reads: [],
    process(entry, budget) {
      const { labels, line } = entry;
      if (line === "" || hints.needsNothing || hints.isDone(labels)) return true;
      if (line.charCodeAt(0) !== code.openBrace) {
        failParser(labels, hints, "JSONParserErr", "expecting json object(6), but it is not");
        return true;
      }
      const unpacked = runSteps(unpack(entry, hints, budget));
      const finish = (problem: string | null): true => {
        if (problem !== null) failParser(labels, hints, "JSONParserErr", problem);
        return true;
      };
      return unpacked instanceof Promise ? unpacked.then(finish) : finish(unpacked);
    },
  };
}

/** Changes the entry if it is packed; what is wrong with the line, or null. */
function* unpack(entry: Entry, hints: ParserHints, budget: YieldBudget): Steps<string | null> {
  const { labels, line } = entry;
  const found: string[] = [];
  let packed: string | null = null;
  let at = skipSpace(line, 1);
  if (at === line.length) return jsonProblems.json;
  while (line.charCodeAt(at) !== code.closeBrace) {
    const from = at;
    if (line.charCodeAt(at) !== code.quote) return jsonProblems.object;
    const keyEnd = stringEnd(line, at + 1);
    if (keyEnd === -1) return jsonProblems.json;
    const key = unescapeJson(line.slice(at + 1, keyEnd));
    if (key === undefined) return jsonProblems.escape;
    at = skipSpace(line, keyEnd + 1);
    if (line.charCodeAt(at) !== code.colon) return jsonProblems.json;
    at = skipSpace(line, at + 1);
    const end = valueEnd(line, at);
    if (typeof end === "string") return end;
    if (line.charCodeAt(at) === code.quote) {
      const value = unescapeJson(line.slice(at + 1, end - 1));
      if (key === entryKey) {
        if (value === undefined) return jsonProblems.escape;
        packed = value;
      } else {
        const label = freeName(labels, key);
        if (hints.needs(label) && !labels.wasParsed(label)) found.push(label, withoutReplacements(value ?? ""));
      }
    }
    if (isPauseDue(end - from, budget)) yield budget.yield();
    at = skipSpace(line, end);
    if (at === line.length) return jsonProblems.array;
    if (line.charCodeAt(at) === code.comma) at = skipSpace(line, at + 1);
    else if (line.charCodeAt(at) !== code.closeBrace) return jsonProblems.object;
  }
  if (packed === null) return null;
  entry.line = packed;
  for (let index = 0; index < found.length && !labels.isFull; index += 2) {
    labels.setParsed(toLabelName(found[index]!), found[index + 1]!);
  }
  return null;
}

/** The position behind a value, or what is wrong with it. */
function valueEnd(line: string, from: number): number | string {
  const unit = line.charCodeAt(from);
  if (from === line.length) return jsonProblems.json;
  if (unit === code.quote) return stringEnd(line, from + 1) + 1 || jsonProblems.string;
  if (unit === code.openBrace) return positionOr(blockEnd(line, from), jsonProblems.object);
  if (unit === code.openBracket) return positionOr(blockEnd(line, from), jsonProblems.array);
  const end = tokenEnd(line, from);
  return tokenKind(line, from, end) === undefined ? jsonProblems.type : end;
}

function positionOr(position: number, problem: string): number | string {
  return position === -1 ? problem : position;
}
