/** Which groups of alert rules are evaluated for which organizations: those of the configuration, and those of the admin API. */
import type { AlertGroupDefinition } from "../api/alert-rules.ts";
import type { ConfiguredGroup } from "../config/alert-groups.ts";
import type { Logger } from "../logger.ts";
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { matchesName } from "../routing/model-access.ts";
import type { StoredAlertGroup } from "../tenancy/alert-groups.ts";
import type { ActiveOrganization } from "../tenancy/job-scope.ts";
import { compileGroup, type RuleGroup } from "../alert-rules/compile-group.ts";

/** A group for one organization. */
export interface PlannedGroup {
  /** Identifies the group; the same for all organizations. */
  readonly key: string;
  /** Where it comes from, as callers see it. */
  readonly file: string;
  readonly organization: ActiveOrganization;
  readonly group: RuleGroup;
}

export interface AlertPlan {
  /** By `planKey`. */
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  /** By the identifier of the organization. */
  readonly byOrganization: ReadonlyMap<string, readonly PlannedGroup[]>;
  /** Those in use, by identifier. */
  readonly organizations: ReadonlyMap<string, ActiveOrganization>;
}

/** Compiles definitions, and keeps what it compiled until the definition changes. */
export class GroupCompiler {
  readonly #logger: Logger;
  #compiled = new Map<string, RuleGroup | undefined>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Groups that are invalid are logged and left out. */
  async plan(
    configured: readonly ConfiguredGroup[],
    stored: readonly StoredAlertGroup[],
    organizations: readonly ActiveOrganization[],
  ): Promise<AlertPlan> {
    const kept = new Map<string, RuleGroup | undefined>();
    const plan = new Map<string, PlannedGroup>();
    const byOrganization = new Map<string, PlannedGroup[]>();
    const yielder = new CooperativeYield();
    const add = (planned: PlannedGroup): void => {
      const { id } = planned.organization;
      plan.set(planKey(id, planned.key), planned);
      const others = byOrganization.get(id);
      if (others === undefined) byOrganization.set(id, [planned]);
      else others.push(planned);
    };
    for (const { definition, file, key, organizations: patterns } of configured) {
      const group = await this.#compile(definition, kept);
      if (group === undefined) continue;
      const isFor = matcherOf(patterns);
      for (const organization of organizations) {
        if (isFor(organization.name)) add({ key, file, organization, group });
        if (yielder.isDue()) await yielder.yield();
      }
    }
    const byId = new Map(organizations.map((organization) => [organization.id, organization]));
    for (const { definition, id, organizationId } of stored) {
      const organization = byId.get(organizationId);
      if (organization === undefined) continue;
      const group = await this.#compile(definition, kept);
      if (group !== undefined) add({ key: id, file: "api", organization, group });
    }
    this.#compiled = kept;
    return { groups: plan, byOrganization, organizations: byId };
  }

  async #compile(
    definition: AlertGroupDefinition,
    kept: Map<string, RuleGroup | undefined>,
  ): Promise<RuleGroup | undefined> {
    const text = JSON.stringify(definition);
    if (kept.has(text)) return kept.get(text);
    let group = this.#compiled.get(text);
    if (group === undefined && !this.#compiled.has(text)) {
      const compiled = await compileGroup(definition);
      if ("problems" in compiled) {
        const problems = compiled.problems.map(({ message }) => message);
        this.#logger.error({ group: definition.name, problems }, "a group of alert rules is invalid and not evaluated");
      } else group = compiled;
    }
    kept.set(text, group);
    return group;
  }
}

export function planKey(organizationId: string, groupKey: string): string {
  return `${organizationId} ${groupKey}`;
}

/** Whether a name matches one of the patterns, in which `*` stands for any text; without patterns, every name does. */
export function matcherOf(patterns: readonly string[] | undefined): (name: string) => boolean {
  return (name) => patterns === undefined || patterns.some((pattern) => matchesName(pattern, name));
}
