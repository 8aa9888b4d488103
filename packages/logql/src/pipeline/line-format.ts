/** `line_format`: the line becomes what a template writes. */
import { compileTemplate, type TemplateResult } from "./template/template.ts";
import { invalidQuery } from "./invalid-query.ts";
import type { CompiledStage, Entry } from "./stage.ts";
import { liveData } from "./template-data.ts";

/** @throws QueryError for an invalid template */
export function compileLineFormat(source: string): CompiledStage {
  const template = compileTemplate(source);
  if ("problem" in template) throw invalidQuery(`invalid line template: ${template.problem}`);
  return {
    reads: template.reads,
    process(entry, budget) {
      const { labels, line, unixNano } = entry;
      const result = template.run({ line, unixNano, data: liveData(labels) }, budget);
      return result instanceof Promise ? result.then((one) => take(entry, one)) : take(entry, result);
    },
  };
}

function take(entry: Entry, result: TemplateResult): true {
  if ("text" in result) {
    entry.line = result.text;
  } else {
    entry.labels.error = "TemplateFormatErr";
    entry.labels.errorDetails = result.problem;
  }
  return true;
}
