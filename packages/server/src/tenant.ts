/**
 * The caller's identity: organization, project and permissions. Access to data requires a Scope, which only this file can
 * create, from a checked key. A cross-tenant read is therefore a type error rather than a forgotten filter.
 */
import { AppError } from "./errors.ts";
import type { SensitiveKind } from "./sensitive-data/kinds.ts";
import { withoutIncluded, type Permission } from "./permissions.ts";

/** Limits of a key or an organization. Absent: no limit of this kind. */
export interface Limits {
  readonly requests_per_minute?: number | undefined;
  readonly tokens_per_minute?: number | undefined;
  readonly concurrent_requests?: number | undefined;
  /** Prompt and completion tokens together, per calendar month (UTC). */
  readonly tokens_per_month?: number | undefined;
  /** Seconds of work, on the main thread and in the telemetry store, for queries and, separately, for exports. */
  readonly compute_seconds_per_minute?: number | undefined;
}

/** A valid key (not revoked, not expired) with its organization. Created by tenancy/, for jobs by tenancy/job-scope.ts; for people by person.ts. */
export interface CheckedKey {
  /** The job of this server that acts for the organization; absent for callers. */
  readonly job?: string | undefined;
  /** The person who calls: signed in, by a token, or with a personal key. Absent for keys of services. */
  readonly person?: PersonIdentity | undefined;
  /** For a person without a key: the person's identifier, under which limits, usage and telemetry count. */
  readonly keyId: string;
  readonly keyName: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** An operator's key may administer every organization; created at the first start or by another operator. */
  readonly operator: boolean;
  /** The project that the key is bound to, if any. */
  readonly projectName: string | undefined;
  /** The name of its role, or of the person's roles; absent for a key with permissions of its own. */
  readonly role?: string | undefined;
  /** With those that they include. */
  readonly permissions: ReadonlySet<Permission>;
  readonly keyLimits: Limits;
  /** The key under which limits count: a rotated key goes on with the usage of the one that it replaces. */
  readonly limitsKeyId: string;
  readonly organizationLimits: Limits;
  /** False: the content of the key's calls is not recorded, whatever the project's settings are. */
  readonly recordsContent?: boolean | undefined;
  /** Patterns of model IDs that the organization may call (`*` matches any text); undefined: all. */
  readonly allowedModels: readonly string[] | undefined;
  /** The same of the key and of its role, which narrow those of the organization. Absent: nothing narrows them. */
  readonly narrowedModels?: readonly (readonly string[])[] | undefined;
}

export interface PersonIdentity {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export const defaultProjectName = "default";

/** Names of organizations, projects and keys. They cannot end in a space, since HTTP trims header values. */
export const namePattern = String.raw`^[\p{L}\p{N}]([\p{L}\p{N} ._/:@-]{0,126}[\p{L}\p{N}._/:@-])?$`;
const projectName = new RegExp(namePattern, "u");

/** A project's telemetry settings. */
export interface ProjectSettings {
  readonly retention_days: number;
  /** Whether prompts and answers are recorded in telemetry. */
  readonly record_content: boolean;
  /** Of how many percent of the conversations and other calls content is recorded; absent: of all. */
  readonly record_content_percent?: number;
  /** Kinds of data that are replaced in its telemetry, in addition to those of the configuration. */
  readonly redact?: SensitiveKind[];
}

/** The organization and the project that a request names. */
export interface ScopeClaim {
  readonly account?: string | undefined;
  readonly project?: string | undefined;
}

/** A caller's rights during one request. */
export class Scope {
  readonly key: CheckedKey;
  readonly organizationId: string;
  /** The project that the request or its key names. Undefined: queries read every project of the organization. */
  readonly namedProject: string | undefined;

  private constructor(key: CheckedKey, namedProject: string | undefined) {
    this.key = key;
    this.organizationId = key.organizationId;
    this.namedProject = namedProject;
  }

  /** The project that a call belongs to. */
  get projectName(): string {
    return this.namedProject ?? defaultProjectName;
  }

  /**
   * The scope of a checked key, narrowed by the account and project that the request names.
   * @throws AppError organization_mismatch, project_mismatch or invalid_request
   */
  static fromKey(key: CheckedKey, claim: ScopeClaim = {}): Scope {
    if (claim.account !== undefined && claim.account !== key.organizationName && claim.account !== key.organizationId) {
      throw new AppError(
        "organization_mismatch",
        `The account ${JSON.stringify(claim.account)} is not the organization of this API key.`,
        { param: "x-account" },
      );
    }
    if (claim.project !== undefined && !projectName.test(claim.project)) {
      throw new AppError(
        "invalid_request",
        `x-project is ${JSON.stringify(claim.project)}; a project name has 1 to 128 letters, digits, spaces and . _ / : @ -, starts with a letter or a digit and does not end with a space.`,
        { param: "x-project" },
      );
    }
    if (claim.project !== undefined && key.projectName !== undefined && claim.project !== key.projectName) {
      throw new AppError(
        "project_mismatch",
        `This API key is bound to the project ${JSON.stringify(key.projectName)}; the request names ${JSON.stringify(claim.project)}.`,
        { param: "x-project" },
      );
    }
    return new Scope(key, claim.project ?? key.projectName);
  }

  /** Whether the caller has the permission. */
  may(permission: Permission): boolean {
    return this.key.permissions.has(permission);
  }

  /** @throws AppError permission_denied */
  require(permission: Permission): void {
    if (!this.key.permissions.has(permission)) {
      throw new AppError(
        "permission_denied",
        `${this.#caller} does not have the permission "${permission}"; its permissions: ${
          withoutIncluded(this.key.permissions)
            .map((name) => `"${name}"`)
            .join(", ") || "none"
        }.`,
      );
    }
  }

  get #caller(): string {
    const { keyId, keyName, person, role } = this.key;
    const named = role === undefined ? "" : ` with the role ${JSON.stringify(role)}`;
    return person?.id === keyId ? `${keyName}${named}` : `This API key${named}`;
  }

  /** @throws AppError permission_denied */
  requireOperator(doing: string): void {
    if (!this.key.operator) throw new AppError("permission_denied", `Only an operator key may ${doing}.`);
  }

  /**
   * Refuses an organization_id other than the key's own.
   * @throws AppError organization_mismatch
   */
  requireOrganization(organizationId: string | null | undefined): void {
    if (
      organizationId != null &&
      organizationId !== this.organizationId &&
      organizationId !== this.key.organizationName
    ) {
      throw new AppError(
        "organization_mismatch",
        `organization_id ${JSON.stringify(organizationId)} is not the organization of this API key.`,
        { param: "organization_id" },
      );
    }
  }
}
