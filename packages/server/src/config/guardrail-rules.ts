/** Checks that every rule of a guardrail looks for something, and that own patterns are valid regular expressions. */
import { RE2JS } from "re2js";
import { formatPath, type SettingPath } from "./problem.ts";
import { isObject } from "../json-object.ts";

/** @param config the resolved configuration, possibly invalid */
export function checkGuardrailRules(config: unknown, report: (path: SettingPath, message: string) => void): void {
  const guardrails = isObject(config) && isObject(config["guardrails"]) ? config["guardrails"] : {};
  for (const [name, guardrail] of Object.entries(guardrails)) {
    const rules = isObject(guardrail) && Array.isArray(guardrail["rules"]) ? (guardrail["rules"] as unknown[]) : [];
    for (const [index, rule] of rules.entries()) {
      if (!isObject(rule)) continue;
      const path = ["guardrails", name, "rules", index];
      const { detect, patterns, words } = rule;
      if (!Array.isArray(patterns) || !Array.isArray(words) || !Array.isArray(detect)) continue;
      if (patterns.length + words.length + detect.length === 0)
        report(path, `${formatPath(path)} has neither \`words\`, \`patterns\` nor \`detect\`; add at least one.`);
      for (const [at, pattern] of patterns.entries() as Iterable<[number, unknown]>) {
        const problem = typeof pattern === "string" ? problemOf(pattern) : undefined;
        const place = [...path, "patterns", at];
        if (problem !== undefined) report(place, `${formatPath(place)} ${problem}`);
      }
    }
  }
}

/** @param config the resolved configuration, possibly invalid */
export function checkRedactionPatterns(config: unknown, report: (path: SettingPath, message: string) => void): void {
  const rules = isObject(config) && isObject(config["redaction"]) ? config["redaction"] : {};
  for (const [name, rule] of Object.entries(rules)) {
    const patterns = isObject(rule) && isObject(rule["patterns"]) ? rule["patterns"] : {};
    for (const [each, pattern] of Object.entries(patterns)) {
      const problem = typeof pattern === "string" ? problemOf(pattern) : undefined;
      const path = ["redaction", name, "patterns", each];
      if (problem !== undefined) report(path, `${formatPath(path)} ${problem}`);
    }
  }
}

function problemOf(pattern: string): string | undefined {
  try {
    if (RE2JS.compile(pattern).matcher("").find())
      return "matches empty text; write a pattern that matches at least one character.";
    return undefined;
  } catch (error) {
    return `is not a regular expression in RE2 syntax: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
