/** What the subcommands of `sounding key` share: the key as the admin API has it, arguments and options. */
import { connectionOptions, organizationOption, type AdminObject } from "../administration.ts";
import type { Options } from "../command.ts";
import { timeOptions } from "../terminal/times.ts";

export interface Key extends AdminObject {
  readonly organization_id: string;
  readonly redacted_secret: string;
  readonly permissions: readonly string[];
  readonly role: string | null;
  readonly person_id: string | null;
  readonly operator: boolean;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

export const keyArgument = {
  name: "key",
  description: "Name or ID of the key, as listed by `sounding key list`.",
  required: true,
};
export const expiresOption = {
  type: "string",
  value: "WHEN",
  description: "When the key expires: 90d, 12h, 30m, a date such as 2027-01-31, or never.",
} as const;
export const projectOption = {
  project: {
    type: "string",
    short: "p",
    value: "NAME",
    description: "Name or ID of the project to bind the key to.",
  },
} as const satisfies Options;

/** The organization is needed only if keys of several organizations have the same name. */
export const whichOptions = {
  organization: {
    ...organizationOption.organization,
    description: "Name or ID of the key's organization, if several organizations have a key with this name.",
  },
  ...timeOptions,
  ...connectionOptions,
} as const satisfies Options;

/** The permissions or the role of a key, and whose it is. */
export function rightsOf(
  { operator, permissions, person_id: person, role }: Key,
  roles?: ReadonlyMap<string, string>,
): string {
  const rights = role === null ? permissions.join(", ") : `role ${roles?.get(role) ?? role}`;
  return `${rights}${operator ? " (operator)" : ""}${person === null ? "" : " (personal)"}`;
}
