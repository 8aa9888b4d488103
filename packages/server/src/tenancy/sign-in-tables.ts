/** The tables of identities and of the sessions of people, and the migration that creates them. Released ones are never edited. */
import type { Kysely } from "kysely";

/** A person at an identity provider. */
interface IdentityTable {
  /** The provider's name in the configuration. */
  provider: string;
  /** The person's identifier at the provider. */
  subject: string;
  person_id: string;
  created_at: number;
  last_sign_in_at: number;
}

/** A session of a person: of a browser, or of a terminal. Expired rows are deleted when the next one is created. */
interface PersonSessionTable {
  id: string;
  kind: "browser" | "terminal";
  /** Of the cookie, or of the terminal's access token. */
  secret_hash: string;
  /** When the access token expires; for a browser, when the session does. */
  secret_expires_at: number;
  /** Of the terminal's refresh token, and of the one before it. */
  refresh_hash: string | null;
  previous_refresh_hash: string | null;
  /** Random; with the previous refresh token, it yields the current tokens. */
  refresh_salt: string | null;
  refreshed_at: number | null;
  person_id: string;
  /** The organization of requests that name none. */
  organization_id: string | null;
  /** How the person signed in: the name of a provider. null: otherwise. */
  provider: string | null;
  subject: string | null;
  /** The provider's own session. */
  provider_session: string | null;
  /** The provider's refresh token, encrypted with a key that only the session's cookie has. */
  provider_token: string | null;
  /** When the provider was last asked whether access goes on. */
  checked_at: number;
  /** What the person used: a browser or a terminal. */
  client: string;
  address: string | null;
  created_at: number;
  expires_at: number;
  last_used_at: number;
}

/** A terminal that waits for a person to sign it in. Expired rows are deleted when the next one is created. */
interface DeviceCodeTable {
  device_hash: string;
  /** What the person compares or types. */
  user_code: string;
  client: string;
  address: string | null;
  /** The network of the address, which limits count. */
  network: string;
  status: "pending" | "approved" | "denied";
  person_id: string | null;
  organization_id: string | null;
  /** The session of the person who approved it. */
  approved_by: string | null;
  created_at: number;
  expires_at: number;
}

/** A logout token that was obeyed, so that it is obeyed once. */
interface LogoutTokenTable {
  provider: string;
  token_id: string;
  expires_at: number;
}

export interface SignInTables {
  identities: IdentityTable;
  person_sessions: PersonSessionTable;
  device_codes: DeviceCodeTable;
  logout_tokens: LogoutTokenTable;
}

export async function createSignInTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("identities")
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("person_id", "text", (column) => column.notNull().references("people.id").onDelete("cascade"))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("last_sign_in_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("identities_key", ["provider", "subject"])
    .execute();
  await schema
    .createTable("person_sessions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("secret_hash", "text", (column) => column.notNull().unique())
    .addColumn("secret_expires_at", "bigint", (column) => column.notNull())
    .addColumn("refresh_hash", "text", (column) => column.unique())
    .addColumn("previous_refresh_hash", "text")
    .addColumn("refresh_salt", "text")
    .addColumn("refreshed_at", "bigint")
    .addColumn("person_id", "text", (column) => column.notNull().references("people.id").onDelete("cascade"))
    .addColumn("organization_id", "text")
    .addColumn("provider", "text")
    .addColumn("subject", "text")
    .addColumn("provider_session", "text")
    .addColumn("provider_token", "text")
    .addColumn("checked_at", "bigint", (column) => column.notNull())
    .addColumn("client", "text", (column) => column.notNull())
    .addColumn("address", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addColumn("last_used_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("device_codes")
    .addColumn("device_hash", "text", (column) => column.primaryKey())
    .addColumn("user_code", "text", (column) => column.notNull().unique())
    .addColumn("client", "text", (column) => column.notNull())
    .addColumn("address", "text")
    .addColumn("network", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("person_id", "text", (column) => column.references("people.id").onDelete("cascade"))
    .addColumn("organization_id", "text")
    .addColumn("approved_by", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("logout_tokens")
    .addColumn("provider", "text", (column) => column.notNull())
    .addColumn("token_id", "text", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("logout_tokens_key", ["provider", "token_id"])
    .execute();
  await schema.createIndex("person_sessions_person").on("person_sessions").column("person_id").execute();
  await schema.createIndex("person_sessions_previous").on("person_sessions").column("previous_refresh_hash").execute();
  await schema
    .createIndex("person_sessions_provider")
    .on("person_sessions")
    .columns(["provider", "provider_session"])
    .execute();
  await schema.createIndex("identities_person").on("identities").column("person_id").execute();
}
