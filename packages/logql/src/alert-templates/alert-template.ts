/**
 * Templates of labels and annotations, in the language of Go's text/template: `{{ $labels.name }}`, `{{ $value | humanize }}`.
 * Nothing in them can run code or read data; their work and what they write are bounded.
 */
import { runSteps } from "../pipeline/run-steps.ts";
import { evaluateTemplate } from "../pipeline/template/evaluate.ts";
import { parseTemplate } from "../pipeline/template/parse.ts";
import { TemplateProblem } from "../pipeline/template/problem.ts";
import { DataMap, type TemplateData, type Value } from "../pipeline/template/values.ts";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { alertTemplateFunctions as functions } from "./template-functions.ts";

/** What a template is expanded for. */
export interface AlertSubject {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly unixMs: number;
}

export interface AlertTemplate {
  /** The text; a template that fails writes why, as in Prometheus. */
  expand(subject: AlertSubject, budget: YieldBudget): string | Promise<string>;
}

/** The variables that Prometheus defines at the start of each template. */
const variables = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$value := .Value}}";
const noLabels = new DataMap(dataOf(new Map()));

function dataOf(labels: ReadonlyMap<string, string>): TemplateData {
  return {
    get: (name) => labels.get(name),
    entries: () => [...labels].sort(([left], [right]) => (left < right ? -1 : 1)),
  };
}

/** @returns the template, or the reason why it is invalid */
export function compileAlertTemplate(source: string): AlertTemplate | { readonly problem: string } {
  if (!source.includes("{{")) return { expand: () => source };
  try {
    const nodes = parseTemplate(`${variables}${source}`, functions);
    return {
      expand({ labels, unixMs, value }, budget) {
        const data = dataOf(labels);
        const dot = new Map<string, Value>([
          ["Labels", new DataMap(data)],
          ["ExternalLabels", noLabels],
          ["Value", value],
        ]);
        const input = { line: "", unixNano: BigInt(unixMs) * 1_000_000n, data };
        const failed = (error: unknown): string => {
          if (error instanceof TemplateProblem) return `<error expanding template: ${error.message}>`;
          throw error;
        };
        try {
          const text = runSteps(evaluateTemplate(nodes, input, budget, { functions, dot }));
          return text instanceof Promise ? text.catch(failed) : text;
        } catch (error) {
          return failed(error);
        }
      },
    };
  } catch (error) {
    if (error instanceof TemplateProblem) return { problem: error.message };
    throw error;
  }
}
