/** Creates the configured guardrails and selects those that apply to a call. docs/adr/0019-guardrails.md */
import type { GuardrailSettings, ModerationGuardrailSettings } from "../config/guardrails.ts";
import type { Logger } from "../logger.ts";
import { matchesName } from "../routing/model-access.ts";
import type { Scope } from "../tenant.ts";
import { ChatGuard, type AppliedGuardrail } from "./chat-guard.ts";
import { createModerationChecker } from "./moderation-checker.ts";
import { createModerationClient, type ModerationClient } from "./moderation-client.ts";
import { createRulesChecker } from "./rules-checker.ts";

export interface Guardrails {
  /** The guard of a call; undefined where nothing is checked. */
  forCall(scope: Scope, modelId: string): ChatGuard | undefined;
  /** Puts other guardrails in force. Running calls keep theirs. */
  reload(settings: Readonly<Record<string, GuardrailSettings>>): void;
  close(): Promise<void>;
}

interface Guardrail extends AppliedGuardrail {
  readonly settings: GuardrailSettings;
}

export interface GuardrailsParts {
  readonly logger: Logger;
  /** The model of an alias, else the ID itself. */
  rootOf(modelId: string): string;
}

export function createGuardrails(
  settings: Readonly<Record<string, GuardrailSettings>>,
  { logger, rootOf }: GuardrailsParts,
): Guardrails {
  /** Keyed by all settings of the endpoint, so that a reload which changes none of them keeps connections. */
  let clients: ReadonlyMap<string, ModerationClient> = new Map();
  const identityOf = (name: string, each: ModerationGuardrailSettings): string =>
    JSON.stringify([name, each.base_url, each.api_key, each.model, each.timeout_ms, each.max_connections]);
  const build = (next: Readonly<Record<string, GuardrailSettings>>): Guardrail[] => {
    const before = clients;
    const kept = new Map<string, ModerationClient>();
    const clientOf = (name: string, each: ModerationGuardrailSettings): ModerationClient => {
      const identity = identityOf(name, each);
      const client = before.get(identity) ?? createModerationClient(name, each, logger);
      kept.set(identity, client);
      return client;
    };
    const built = Object.entries(next).map(([name, each]) => ({
      settings: each,
      checker:
        each.type === "rules"
          ? createRulesChecker(name, each)
          : createModerationChecker({ name, settings: each, client: clientOf(name, each), logger }),
      checksInput: each.check.includes("input"),
      checksOutput: each.check.includes("output"),
      roles: each.roles,
    }));
    for (const [identity, client] of before) if (!kept.has(identity)) client.retire();
    clients = kept;
    return built;
  };
  let all = build(settings);
  return {
    forCall(scope, modelId) {
      if (all.length === 0) return undefined;
      const models = [modelId, rootOf(modelId)];
      const applied = all.filter(({ settings: each }) => applies(each, scope, models));
      return applied.length === 0 ? undefined : new ChatGuard(applied);
    },
    reload(next) {
      all = build(next);
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

function applies(
  { models, organizations, projects }: GuardrailSettings,
  scope: Scope,
  asked: readonly string[],
): boolean {
  const { organizationId, organizationName } = scope.key;
  return (
    isNamed(models, asked) &&
    isNamed(organizations, [organizationId, organizationName]) &&
    isNamed(projects, [scope.projectName])
  );
}

function isNamed(patterns: readonly string[] | undefined, names: readonly string[]): boolean {
  return patterns === undefined || patterns.some((pattern) => names.some((name) => matchesName(pattern, name)));
}
