/** Words and patterns of the configuration, matched by this server. */
import type { RulesGuardrailSettings } from "../config/guardrails.ts";
import type { Checker, FilteredText, TextFinding } from "./finding.ts";
import { RuleFilter } from "./rule-filter.ts";
import { compileRule } from "./text-matcher.ts";

/** Code units that are searched for one matcher without a pause for others. */
const sliceForOne = 8_192;
const smallestSlice = 256;

export function createRulesChecker(name: string, settings: RulesGuardrailSettings): Checker {
  const matchers = settings.rules.flatMap((rule) => compileRule(rule, settings.max_match_characters));
  const slice = Math.max(smallestSlice, Math.floor(sliceForOne / (matchers.length + 1)));
  const newFilter = (): RuleFilter => new RuleFilter(matchers, settings.replacement);

  const judge = async (text: string, signal: AbortSignal): Promise<FilteredText> => {
    const filter = newFilter();
    const findings: TextFinding[] = [];
    let judged = "";
    for (let at = 0; at < Math.max(1, text.length); at += slice) {
      const next = filter.push(text.slice(at, at + slice), at + slice >= text.length);
      judged += next.text;
      findings.push(...next.findings);
      if (at + slice >= text.length) break;
      // A long prompt shall hold up nobody else.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    }
    return { text: judged, findings };
  };
  return {
    name,
    filter: newFilter,
    async judge(texts, signal) {
      const judged: FilteredText[] = [];
      for (const text of texts) judged.push(await judge(text, signal));
      return judged;
    },
  };
}
