/** Words and patterns of the configuration, matched by this server. */
import type { RulesGuardrailSettings } from "../config/guardrails.ts";
import { isBlocked, type Checker, type FilteredText, type TextFinding } from "./finding.ts";
import { RuleFilter } from "./rule-filter.ts";
import { compileRule, type TextMatcher } from "./text-matcher.ts";

/** Code units that are searched for one matcher without a pause for others. */
const sliceForOne = 8_192;
const smallestSlice = 256;
/** What a piece costs however short it is, as so many code units. */
const unitsPerPiece = 32;

export function createRulesChecker(name: string, settings: RulesGuardrailSettings): Checker {
  const matchers = settings.rules.flatMap((rule) => compileRule(rule, settings.max_match_characters));
  const redacting = matchers.filter(({ finding }) => finding.action === "redact");
  const slice = Math.max(smallestSlice, Math.floor(sliceForOne / (matchers.length + 1)));
  const newFilter = (by: readonly TextMatcher[] = matchers): RuleFilter => new RuleFilter(by, settings.replacement);

  /** Waits for others after as much text as may be searched at once, of however many texts. */
  const newPause = (signal: AbortSignal): ((codeUnits: number) => Promise<void>) => {
    let searched = 0;
    return async (codeUnits) => {
      searched += codeUnits + unitsPerPiece;
      if (searched < slice) return;
      searched = 0;
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    };
  };
  /** Each text up to the first that is blocked. */
  const judge = async (
    texts: readonly string[],
    by: readonly TextMatcher[],
    signal: AbortSignal,
  ): Promise<FilteredText[]> => {
    const pause = newPause(signal);
    const judged: FilteredText[] = [];
    for (const text of texts) {
      const filter = newFilter(by);
      const findings: TextFinding[] = [];
      let left = "";
      for (let at = 0, isLast = false; !isLast; at += slice) {
        isLast = at + slice >= text.length;
        const next = filter.push(text.slice(at, at + slice), isLast);
        left += next.text;
        findings.push(...next.findings);
        if (isBlocked(next)) return [...judged, { text: left, findings }];
        await pause(Math.min(slice, text.length - at));
      }
      judged.push({ text: left, findings });
    }
    return judged;
  };

  return {
    name,
    redacts: redacting.length > 0,
    filter: () => newFilter(),
    async judge(texts, signal) {
      const judged = await judge(texts, matchers, signal);
      if (!judged.some(isBlocked)) return judged;
      // A block ends the search, but not what is to be redacted.
      const redacted = redacting.length === 0 ? texts : (await judge(texts, redacting, signal)).map(({ text }) => text);
      return redacted.map((text, index) => ({ text, findings: judged[index]?.findings ?? [] }));
    },
  };
}
