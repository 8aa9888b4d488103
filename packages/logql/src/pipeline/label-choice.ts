/** `drop` and `keep`: labels by name, or only where their value matches. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelChoice } from "../syntax/ast.ts";
import { errorDetailsLabel, errorLabel, preserveErrorLabel, type EntryLabels } from "./entry-labels.ts";
import type { CompiledStage, Entry } from "./stage.ts";
import { compileValueMatcher, type ValueMatcher } from "./value-matcher.ts";

interface Choice {
  readonly name: string;
  /** null: whatever its value. */
  readonly matches: ValueMatcher | null;
}

/** @throws QueryError for an invalid expression */
export function compileLabelChoice({ kind, labels }: LabelChoice): CompiledStage {
  const choices = labels.map((label): Choice => {
    if (label.kind === "name") return { name: label.name, matches: null };
    return { name: label.matcher.name, matches: compileValueMatcher(label.matcher) };
  });
  const apply = kind === "drop" ? drop : keep;
  return { reads: [], process: (entry, budget) => resume(apply(entry, choices, budget)) };
}

/** Runs up to the first pause, and then asynchronously. */
function resume(steps: Generator<Promise<unknown>, void, boolean>, value = false): boolean | Promise<boolean> {
  const { done, value: pause } = steps.next(value);
  return done === true ? true : pause.then((found) => resume(steps, found as boolean));
}

type Steps = Generator<Promise<boolean>, void, boolean>;

function* drop({ labels }: Entry, choices: readonly Choice[], budget: YieldBudget): Steps {
  for (const { matches, name } of choices) {
    if (matches === null) {
      dropLabel(labels, name);
      continue;
    }
    const found = matches(currentValue(labels, name), budget);
    if (typeof found === "boolean" ? found : yield found) dropLabel(labels, name);
  }
}

function currentValue(labels: EntryLabels, name: string): string {
  if (name === errorLabel) return labels.error;
  return name === errorDetailsLabel ? labels.errorDetails : (labels.get(name) ?? "");
}

function dropLabel(labels: EntryLabels, name: string): void {
  if (name === errorLabel) labels.error = "";
  else if (name === errorDetailsLabel) labels.errorDetails = "";
  else labels.drop(name);
}

/** The labels of errors always stay. */
const alwaysKept: ReadonlySet<string> = new Set([errorLabel, errorDetailsLabel, preserveErrorLabel]);

function* keep({ labels }: Entry, choices: readonly Choice[], budget: YieldBudget): Steps {
  const pairs = labels.pairs();
  for (let index = 0; index < pairs.length; index += 2) {
    const name = pairs[index]!;
    if (alwaysKept.has(name)) continue;
    let isKept = false;
    for (const choice of choices) {
      if (choice.name !== name) continue;
      const found = choice.matches === null || choice.matches(pairs[index + 1]!, budget);
      isKept = typeof found === "boolean" ? found : yield found;
      if (isKept) break;
    }
    if (!isKept) labels.drop(name);
  }
}
