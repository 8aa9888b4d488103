/** `label_format`: renames labels, and sets them to what templates write. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelAssignment } from "../syntax/ast.ts";
import { errorLabel } from "./entry-labels.ts";
import { invalidQuery } from "./invalid-query.ts";
import { runSteps, type Steps } from "./run-steps.ts";
import type { CompiledStage, Entry } from "./stage.ts";
import { liveData, snapshot } from "./template-data.ts";
import { compileTemplate, type Template, type TemplateResult } from "./template/template.ts";
import type { TemplateData } from "./template/values.ts";

type Assignment =
  | { readonly label: string; readonly from: string }
  | { readonly label: string; readonly template: Template };

/** @throws QueryError for an invalid template, or a label that is set twice */
export function compileLabelFormat(assignments: readonly LabelAssignment[]): CompiledStage {
  const labels = new Set<string>();
  const compiled = assignments.map((assignment): Assignment => {
    const { label } = assignment;
    if (label === errorLabel) throw invalidQuery(`${label} cannot be formatted`);
    if (labels.has(label)) {
      throw invalidQuery(`multiple label name '${label}' not allowed in a single format operation`);
    }
    labels.add(label);
    if (assignment.kind === "rename") return { label, from: assignment.from };
    const template = compileTemplate(assignment.template);
    if ("problem" in template) throw invalidQuery(`invalid template for label '${label}': ${template.problem}`);
    return { label, template };
  });
  return {
    reads: compiled.flatMap((one) => ("from" in one ? [one.from] : one.template.reads)),
    process: (entry, budget) => runSteps(assign(compiled, entry, budget)),
  };
}

function* assign(
  assignments: readonly Assignment[],
  { labels, line, unixNano }: Entry,
  budget: YieldBudget,
): Steps<true> {
  // All templates of a stage see the labels as they were before the first one.
  let data: TemplateData | undefined;
  for (const assignment of assignments) {
    if ("from" in assignment) {
      const value = labels.get(assignment.from);
      if (value === undefined) continue;
      labels.setParsed(assignment.label, value);
      labels.drop(assignment.from);
      continue;
    }
    data ??= assignments.length === 1 ? liveData(labels) : snapshot(labels);
    const running = assignment.template.run({ line, unixNano, data }, budget);
    const result = running instanceof Promise ? ((yield running) as TemplateResult) : running;
    if ("text" in result) {
      labels.setParsed(assignment.label, result.text);
    } else {
      labels.error = "TemplateFormatErr";
      labels.errorDetails = result.problem;
    }
  }
  return true;
}
