/** The tables of passkeys, and the migration that creates them. Released ones are never edited. */
import type { Kysely } from "kysely";

/** A public key of a person (WebAuthn), whose private key is on a device, in a password manager or on a security key. */
interface PasskeyTable {
  id: string;
  person_id: string;
  name: string;
  /** What the authenticator calls it, base64url. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** Of the last signature; always 0 for authenticators that do not count. */
  counter: number;
  /** JSON: how browsers reach the authenticator. */
  transports: string;
  /** The host name for which it was created, and for which alone it signs. */
  rp_id: string;
  /** Whether it is synchronized to other devices (the flag BS). */
  backed_up: number;
  created_at: number;
  last_used_at: number | null;
}

/** A challenge that has not been answered yet. Only its hash is stored. */
interface PasskeyChallengeTable {
  challenge_hash: string;
  /** The session that adds a passkey. null: anybody signs in with it. */
  session_id: string | null;
  network: string;
  expires_at: number;
}

export interface PasskeyTables {
  passkeys: PasskeyTable;
  passkey_challenges: PasskeyChallengeTable;
}

export async function createPasskeyTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("passkeys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("person_id", "text", (column) => column.notNull().references("people.id").onDelete("cascade"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("credential_id", "text", (column) => column.notNull().unique())
    .addColumn("public_key", "text", (column) => column.notNull())
    .addColumn("counter", "bigint", (column) => column.notNull())
    .addColumn("transports", "text", (column) => column.notNull())
    .addColumn("rp_id", "text", (column) => column.notNull())
    .addColumn("backed_up", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("last_used_at", "bigint")
    .execute();
  await schema.createIndex("passkeys_person").on("passkeys").column("person_id").execute();
  await schema
    .createTable("passkey_challenges")
    .addColumn("challenge_hash", "text", (column) => column.primaryKey())
    .addColumn("session_id", "text", (column) => column.references("person_sessions.id").onDelete("cascade"))
    .addColumn("network", "text", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
  await schema.createIndex("passkey_challenges_network").on("passkey_challenges").column("network").execute();
  await schema.createIndex("passkey_challenges_expiry").on("passkey_challenges").column("expires_at").execute();
  await schema.createIndex("passkey_challenges_session").on("passkey_challenges").column("session_id").execute();
}
