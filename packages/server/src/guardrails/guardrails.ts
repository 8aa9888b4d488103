/** Creates the configured guardrails and selects those that apply to a call. docs/adr/0008-routing-and-guardrails.md */
import type { GuardrailSettings, ModerationGuardrailSettings } from "../config/guardrails.ts";
import { AppError } from "../errors.ts";
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
  /**
   * The moderation endpoint with this name or model, else the first one, of those that apply to the caller.
   * @throws AppError model_not_found if there is none
   */
  moderatorFor(scope: Scope, name: string | undefined): Moderator;
  /** Puts other guardrails in force. Running calls keep theirs. */
  reload(settings: Readonly<Record<string, GuardrailSettings>>): void;
  close(): Promise<void>;
}

/** A configured moderation endpoint. */
export interface Moderator extends Pick<ModerationClient, "classify"> {
  readonly name: string;
  readonly model: string | undefined;
}

interface Guardrail extends AppliedGuardrail {
  readonly settings: GuardrailSettings;
  /** Of a guardrail that asks an endpoint. */
  readonly moderator: Moderator | undefined;
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
    const checkerOf = (name: string, each: GuardrailSettings): Pick<Guardrail, "checker" | "moderator"> => {
      if (each.type === "rules") return { checker: createRulesChecker(name, each), moderator: undefined };
      const client = clientOf(name, each);
      return {
        checker: createModerationChecker({ name, settings: each, client, logger }),
        moderator: { name, model: each.model, classify: (...input) => client.classify(...input) },
      };
    };
    const built = Object.entries(next).map(([name, each]) => ({
      settings: each,
      ...checkerOf(name, each),
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
    moderatorFor(scope, name) {
      const own = all.filter(({ settings: each }) => isFor(each, scope));
      const moderators = own.flatMap(({ moderator }) => moderator ?? []);
      const found =
        name === undefined ? moderators[0] : moderators.find((each) => [each.name, each.model].includes(name));
      if (found !== undefined) return found;
      const known = moderators.map((each) => JSON.stringify(each.model ?? each.name)).join(", ");
      const message =
        known === ""
          ? "No moderation endpoint is configured for the caller: add a guardrail of type moderation."
          : `model is ${JSON.stringify(name)}; expected one of ${known}.`;
      throw new AppError("model_not_found", message, { param: "model" });
    },
    reload(next) {
      all = build(next);
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

function applies(settings: GuardrailSettings, scope: Scope, asked: readonly string[]): boolean {
  return isNamed(settings.models, asked) && isFor(settings, scope);
}

function isFor({ organizations, projects }: GuardrailSettings, scope: Scope): boolean {
  const { organizationId, organizationName } = scope.key;
  return isNamed(organizations, [organizationId, organizationName]) && isNamed(projects, [scope.projectName]);
}

function isNamed(patterns: readonly string[] | undefined, names: readonly string[]): boolean {
  return patterns === undefined || patterns.some((pattern) => names.some((name) => matchesName(pattern, name)));
}
