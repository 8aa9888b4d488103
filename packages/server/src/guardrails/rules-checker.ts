/** Checks texts for the configured words and patterns. */
import type { RulesGuardrailSettings } from "../config/guardrails.ts";
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { isBlocked, type Checker, type FilteredText } from "./finding.ts";
import { RedactionCount } from "./redaction-count.ts";
import { RuleFilter } from "./rule-filter.ts";
import { compileRule, type TextMatcher } from "./text-matcher.ts";

interface Judgment {
  /** Up to the first text that is blocked. */
  readonly judged: readonly FilteredText[];
  readonly isBlocked: boolean;
}

export function createRulesChecker(name: string, settings: RulesGuardrailSettings): Checker {
  const { replacement } = settings;
  const matchers = settings.rules.flatMap((rule) => compileRule(rule, settings.max_match_characters));
  const redacting = matchers.filter(({ finding }) => finding.action === "redact");

  const judge = async (
    texts: readonly string[],
    by: readonly TextMatcher[],
    { signal, yielder }: { readonly signal: AbortSignal; readonly yielder: CooperativeYield },
  ): Promise<Judgment> => {
    const options = { matchers: by, replacement, signal, redactions: new RedactionCount() };
    const judged: FilteredText[] = [];
    for (const text of texts) {
      const next = await new RuleFilter(options).push(text, true, yielder);
      judged.push(next);
      if (isBlocked(next)) return { judged, isBlocked: true };
    }
    return { judged, isBlocked: false };
  };

  return {
    name,
    redacts: redacting.length > 0,
    filter: (signal) => new RuleFilter({ matchers, replacement, signal, redactions: new RedactionCount() }),
    async judge(texts, signal) {
      const yielder = new CooperativeYield();
      const first = await judge(texts, matchers, { signal, yielder });
      if (!first.isBlocked) return first.judged;
      // A block ends the search early, so a second pass finds all redactions.
      const second = redacting.length === 0 ? undefined : await judge(texts, redacting, { signal, yielder });
      const judged: FilteredText[] = [];
      for (const [index, text] of texts.entries()) {
        judged.push({ text: second?.judged[index]?.text ?? text, findings: first.judged[index]?.findings ?? [] });
        if (yielder.isDue()) await yielder.yield();
      }
      return judged;
    },
  };
}
