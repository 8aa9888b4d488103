/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** A person who can sign in. */
export interface Person {
  /** Always `person`. */
  object: "person";
  /** Identifier of the person. */
  id: string;
  /** Mail address, which identifies the person at sign-in. Stored in lower case. */
  email: string;
  /** Name of the person, for display. */
  name: string;
  /** Whether the person may administer all organizations. */
  operator: boolean;
  /** The memberships that the caller may see. */
  memberships: Membership[];
  /** Creation, UNIX seconds. */
  created_at: number;
  /** When the person was disabled, UNIX seconds; null if not. */
  disabled_at: number | null;
  /** When the person last used Sounding, UNIX seconds; null if never. */
  last_used_at: number | null;
}

/** A role of a person in an organization, or in one of its projects. */
export interface Membership {
  /** Always `membership`. */
  object: "membership";
  /** Identifier of the membership. */
  id: string;
  /** Identifier of the person. */
  person_id: string;
  /** Identifier of the organization. */
  organization_id: string;
  /** Project to which the role is limited; null: the whole organization. */
  project_id: string | null;
  /** A built-in role (`owner`, `admin`, `member`, `viewer`, `billing`), or the identifier of a role of the organization. */
  role: string;
  /** `admin`: set through the admin API. Others are set, and removed, by what they name, such as an identity provider. */
  source: string;
  /** Creation, UNIX seconds. */
  created_at: number;
}

/** A role: a named set of permissions. */
export interface Role {
  /** Always `role`. */
  object: "role";
  /** Identifier of the role; its name if it is built in. */
  id: string;
  /** Identifier of the organization; null if it is built in. */
  organization_id: string | null;
  /** Name of the role: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. */
  name: string;
  /** The permissions of the role, with those that they include. */
  permissions: (
    | "inference"
    | "models_read"
    | "telemetry_write"
    | "telemetry_read"
    | "content_read"
    | "spend_read"
    | "configuration_read"
    | "personal_keys"
    | "admin"
    | "owner"
    | "provision"
  )[];
  /** Patterns of the model IDs that may be called; `*` matches any text. Null: all models. */
  allowed_models: string[] | null;
  /** Creation, UNIX seconds; null if it is built in. */
  created_at: number | null;
  /** Last change, UNIX seconds; null if it is built in. */
  updated_at: number | null;
}
