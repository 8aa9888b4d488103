/** Decides what is redacted in the telemetry of a project: by the configuration, and by the project's own settings. */
import type { RedactionSettings } from "../../config/redaction.ts";
import { matchesName } from "../../routing/model-access.ts";
import type { SensitiveKind } from "../../sensitive-data/kinds.ts";
import type { ProjectSettings, Scope } from "../../tenant.ts";
import { createTextRedactor, type TextRedactor } from "./text-redactor.ts";

export interface Redaction {
  /** What redacts the telemetry of the scope's project; undefined if nothing does. */
  redactorOf(scope: Scope, settings: ProjectSettings): TextRedactor | undefined;
  /** Puts other settings in force for the telemetry that comes next. */
  reload(settings: RedactionSettings): void;
}

/** Projects differ little; more are compiled again each time. */
const mostRedactors = 256;

/** @param count called for each replacement, with its kind */
export function createRedaction(settings: RedactionSettings, count: (kind: string) => void): Redaction {
  let rules = Object.entries(settings);
  const redactors = new Map<string, TextRedactor>();
  return {
    redactorOf(scope, { redact = [] }) {
      if (rules.length === 0 && redact.length === 0) return undefined;
      const applied = rules.filter(([, rule]) => applies(rule, scope));
      const kinds = new Set<SensitiveKind>([...redact, ...applied.flatMap(([, rule]) => rule.kinds)]);
      const patterns = applied.flatMap(([, rule]) => Object.entries(rule.patterns));
      if (kinds.size === 0 && patterns.length === 0) return undefined;
      const id = JSON.stringify([[...kinds].sort(), applied.map(([name]) => name)]);
      let redactor = redactors.get(id);
      if (redactor === undefined) {
        if (redactors.size >= mostRedactors) redactors.clear();
        redactors.set(id, (redactor = createTextRedactor({ kinds, patterns }, count)));
      }
      return redactor;
    },
    reload(next) {
      rules = Object.entries(next);
      redactors.clear();
    },
  };
}

function applies({ organizations, projects }: RedactionSettings[string], scope: Scope): boolean {
  const { organizationId, organizationName } = scope.key;
  return isNamed(organizations, [organizationId, organizationName]) && isNamed(projects, [scope.projectName]);
}

function isNamed(patterns: readonly string[] | undefined, names: readonly string[]): boolean {
  return patterns === undefined || patterns.some((pattern) => names.some((name) => matchesName(pattern, name)));
}
