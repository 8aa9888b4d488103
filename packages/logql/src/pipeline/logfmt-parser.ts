/**
 * `logfmt`: each pair of the line becomes a label, or only those that are asked for.
 * https://grafana.com/docs/loki/latest/query/log_queries/#logfmt
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LogfmtParser } from "../syntax/ast.ts";
import type { EntryLabels } from "./entry-labels.ts";
import { failParser, freeName, withoutReplacements } from "./extracted-label.ts";
import { LabelNames } from "./label-names.ts";
import { parseLogfmtExpression } from "./logfmt-expression.ts";
import { LogfmtScanner } from "./logfmt-scanner.ts";
import type { ParserHints } from "./parser-hints.ts";
import { charactersPerCheck, isPauseDue, runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage, Entry } from "./stage.ts";

/** Takes a pair; whether to go on. */
type Take = (labels: EntryLabels, key: string, value: string) => boolean;

/** @throws QueryError for an invalid expression */
export function compileLogfmtParser(parser: LogfmtParser, hints: ParserHints): CompiledStage {
  const { extractions, keepEmpty, strict } = parser;
  const names = new LabelNames();
  if (extractions.length === 0) {
    return stage(
      strict,
      hints,
      () => true,
      (labels, key, value) => {
        const name = names.name(key);
        if (name === "") return true;
        const label = freeName(labels, name);
        if (!hints.needs(label) || labels.wasParsed(label) || (value === "" && !keepEmpty)) return true;
        labels.setParsed(label, withoutReplacements(value));
        return !hints.isDone(labels);
      },
    );
  }
  const wanted = new Map<string, string[]>();
  for (const { expression, label } of extractions) {
    const key = parseLogfmtExpression(expression);
    wanted.set(key, [...(wanted.get(key) ?? []), label]);
  }
  const before = (labels: EntryLabels): void => {
    for (const { label } of extractions) {
      if (!labels.isTaken(label)) labels.setParsed(label, "");
    }
  };
  return stage(strict, hints, before, (labels, key, value) => {
    for (const label of wanted.get(names.name(key)) ?? []) {
      labels.setParsed(freeName(labels, label), value.includes("\uFFFD") ? "" : value);
    }
    return true;
  });
}

function stage(
  strict: boolean,
  hints: ParserHints,
  before: (labels: EntryLabels) => unknown,
  take: Take,
): CompiledStage {
  return {
    reads: [],
    process(entry, budget) {
      if (hints.needsNothing || hints.isDone(entry.labels)) return true;
      before(entry.labels);
      return runSteps(extract(entry, strict, hints, take, budget));
    },
  };
}

function* extract(
  { labels, line }: Entry,
  strict: boolean,
  hints: ParserHints,
  take: Take,
  budget: YieldBudget,
): Steps<true> {
  const scanner = new LogfmtScanner(line);
  let checkAt = charactersPerCheck;
  while (!scanner.isAtEnd) {
    if (scanner.next()) {
      if (!take(labels, scanner.key, scanner.value) || labels.isFull) break;
    } else if (strict) {
      break;
    }
    if (scanner.position > checkAt) {
      checkAt = scanner.position + charactersPerCheck;
      if (isPauseDue(charactersPerCheck, budget)) yield budget.yield();
    }
  }
  if (strict && scanner.problem !== "") failParser(labels, hints, "LogfmtParserErr", scanner.problem);
  return true;
}
