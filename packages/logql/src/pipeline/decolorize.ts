/** `decolorize`: removes the ANSI escape sequences of terminals from the line, in linear time. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { charactersPerCheck, isPauseDue, runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage, Entry } from "./stage.ts";

export const decolorize: CompiledStage = {
  reads: [],
  process: (entry, budget) => runSteps(removeEscapeSequences(entry, budget)),
};

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const introducer = /[\u001B\u009B]/g;
const prefix = /[[\]()#;?]*/y;
/** The commands of operating systems end with BEL. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const command = /[a-zA-Z\d;]*\u0007/y;
const parameters = /(?:\d{1,4}(?:;\d{0,4})*)?/y;
const final = /[\dA-PRZcf-ntqry=><~]/y;

function* removeEscapeSequences(entry: Entry, budget: YieldBudget): Steps<true> {
  const { line } = entry;
  let text = "";
  let kept = 0;
  let checkAt = charactersPerCheck;
  for (const { index } of line.matchAll(introducer)) {
    if (index < kept) continue;
    const end = endOfSequence(line, index + 1);
    if (end === -1) continue;
    text += line.slice(kept, index);
    kept = end;
    if (kept >= checkAt) {
      checkAt = kept + charactersPerCheck;
      if (isPauseDue(charactersPerCheck, budget)) yield budget.yield();
    }
  }
  if (kept > 0) entry.line = text + line.slice(kept);
  return true;
}

/** Where a sequence ends; -1 if what follows the introducer is none. */
function endOfSequence(line: string, from: number): number {
  const afterPrefix = endOf(prefix, line, from);
  const afterCommand = endOf(command, line, afterPrefix);
  if (afterCommand !== -1) return afterCommand;
  const afterParameters = endOf(parameters, line, afterPrefix);
  const afterFinal = endOf(final, line, afterParameters);
  if (afterFinal !== -1) return afterFinal;
  // A digit can be the final character too.
  for (let end = afterParameters; end > afterPrefix; end--) {
    if (line[end - 1] !== ";") return end;
  }
  return -1;
}

function endOf(pattern: RegExp, line: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(line) ? pattern.lastIndex : -1;
}
