/** Words and patterns of the configuration, matched by this server. */
import type { RulesGuardrailSettings } from "../config/guardrails.ts";
import { isBlocked, type Checker, type FilteredText, type TextFinding } from "./finding.ts";
import { RuleFilter } from "./rule-filter.ts";
import { compileRule, type TextMatcher } from "./text-matcher.ts";

/** Code units that are searched for one matcher without a pause for others. */
const sliceForOne = 8_192;
const smallestSlice = 256;

export function createRulesChecker(name: string, settings: RulesGuardrailSettings): Checker {
  const matchers = settings.rules.flatMap((rule) => compileRule(rule, settings.max_match_characters));
  const redacting = matchers.filter(({ finding }) => finding.action === "redact");
  const slice = Math.max(smallestSlice, Math.floor(sliceForOne / (matchers.length + 1)));
  const newFilter = (by: readonly TextMatcher[] = matchers): RuleFilter => new RuleFilter(by, settings.replacement);

  const judge = async (text: string, by: readonly TextMatcher[], signal: AbortSignal): Promise<FilteredText> => {
    const filter = newFilter(by);
    const findings: TextFinding[] = [];
    let judged = "";
    for (let at = 0; at < Math.max(1, text.length); at += slice) {
      const next = filter.push(text.slice(at, at + slice), at + slice >= text.length);
      judged += next.text;
      findings.push(...next.findings);
      if (isBlocked(next) || at + slice >= text.length) break;
      // A long prompt shall hold up nobody else.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    }
    return { text: judged, findings };
  };
  const redact = async (text: string, signal: AbortSignal): Promise<string> =>
    redacting.length === 0 ? text : (await judge(text, redacting, signal)).text;

  return {
    name,
    redacts: redacting.length > 0,
    filter: () => newFilter(),
    async judge(texts, signal) {
      const judged: FilteredText[] = [];
      for (const text of texts) {
        const next = await judge(text, matchers, signal);
        judged.push(next);
        if (isBlocked(next)) break;
      }
      if (!judged.some(isBlocked)) return judged;
      // A block ends the search, but not what is to be redacted.
      const recorded: FilteredText[] = [];
      for (const [index, text] of texts.entries()) {
        recorded.push({ text: await redact(text, signal), findings: judged[index]?.findings ?? [] });
      }
      return recorded;
    },
  };
}
