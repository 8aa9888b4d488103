/**
 * Templates of `line_format` and `label_format`, in the language of Go's text/template with Loki's functions.
 * https://grafana.com/docs/loki/latest/query/template_functions/
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { runSteps, type Steps } from "../run-steps.ts";
import { evaluateTemplate } from "./evaluate.ts";
import { templateFunctions } from "./functions.ts";
import { parseTemplate } from "./parse.ts";
import { TemplateProblem } from "./problem.ts";
import { fieldsIn, singleField } from "./template-fields.ts";
import type { TemplateNode } from "./tree.ts";
import type { TemplateInput } from "./values.ts";

/** What a template writes, or why it failed. */
export type TemplateResult = { readonly text: string } | { readonly problem: string };

export interface Template {
  /** The labels that it mentions. */
  readonly reads: readonly string[];
  /** A promise only where the budget asks for a pause. */
  run(input: TemplateInput, budget: YieldBudget): TemplateResult | Promise<TemplateResult>;
}

/** @returns the reason why the template is invalid, or the template */
export function compileTemplate(source: string): Template | { readonly problem: string } {
  try {
    const nodes = parseTemplate(source, templateFunctions);
    const field = singleField(nodes);
    if (field !== undefined) return { reads: [field], run: ({ data }) => ({ text: data.get(field) ?? "" }) };
    return { reads: fieldsIn(nodes), run: (input, budget) => runSteps(attempt(nodes, input, budget)) };
  } catch (error) {
    return problemOf(error);
  }
}

function* attempt(nodes: readonly TemplateNode[], input: TemplateInput, budget: YieldBudget): Steps<TemplateResult> {
  try {
    return { text: yield* evaluateTemplate(nodes, input, budget) };
  } catch (error) {
    return problemOf(error);
  }
}

function problemOf(error: unknown): { readonly problem: string } {
  if (error instanceof TemplateProblem) return { problem: error.message };
  throw error;
}
