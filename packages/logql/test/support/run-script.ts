/** Runs a LogQL test script against the engine: each `eval` is a case that passes or fails. */
import { queryLogqlInstant, queryLogqlRange } from "../../src/engine.ts";
import type { LogqlResult } from "../../src/query-result.ts";
import { QueryError } from "@sounding/promql/query-error";
import { MemoryLogStorage } from "../../src/memory-storage.ts";
import { valueProblem } from "./compare.ts";
import { parseScript, type EvalCommand } from "./script.ts";

export interface CaseResult {
  readonly line: number;
  readonly query: string;
  /** Why the case failed; null if it passed. */
  readonly failure: string | null;
}

/** All cases of a script, in order. A command that cannot be read is a failed case; so is a script without cases. */
export async function runScript(text: string): Promise<CaseResult[]> {
  let storage = new MemoryLogStorage();
  const results: CaseResult[] = [];
  for (const command of parseScript(text)) {
    if (command.kind === "clear") {
      storage = new MemoryLogStorage();
    } else if (command.kind === "load") {
      for (const { entries, labels } of command.streams) storage.add(labels, entries);
    } else if (command.kind === "broken") {
      results.push({ line: command.line, query: "", failure: command.problem });
    } else {
      const { line, query } = command;
      results.push({ line, query, failure: (await caseProblem(command, storage)) ?? null });
    }
  }
  if (results.length > 0) return results;
  return [{ line: 1, query: "", failure: "the script has no case: no line begins with eval" }];
}

async function caseProblem(command: EvalCommand, storage: MemoryLogStorage): Promise<string | undefined> {
  const { expected } = command;
  try {
    return valueProblem(command, (await evaluate(command, storage)).value);
  } catch (cause) {
    // Anything but an error for the caller is a bug.
    if (!(cause instanceof QueryError)) return `the engine failed: ${String(cause)}`;
    if (expected.kind !== "failure") return `failed: ${cause.message}`;
    return expected.matches(cause.message)
      ? undefined
      : `expected the failure ${JSON.stringify(expected.wanted)}, got ${JSON.stringify(cause.message)}`;
  }
}

function evaluate(command: EvalCommand, storage: MemoryLogStorage): Promise<LogqlResult> {
  const { endUnixNano, isRange, query, startUnixNano, stepNano } = command;
  if (!isRange) return queryLogqlInstant(storage, { query, timeUnixNano: startUnixNano });
  return queryLogqlRange(storage, {
    query,
    startUnixNano,
    endUnixNano,
    stepMs: Number(stepNano) / 1e6,
    alignsSteps: false,
  });
}
