/** The tables of local accounts, and the migration that creates them. Released ones are never edited. */
import type { Kysely } from "kysely";

/** The password and the second factor of a person. */
interface AccountTable {
  person_id: string;
  /** With the parameters of the hash and the salt. */
  password_hash: string;
  /** The secret of one-time codes, encrypted with a key that only the password yields. null: no codes are needed. */
  totp_secret: string | null;
  /** The time step of the last code that was used; it and earlier ones are refused. */
  totp_step: number | null;
  created_at: number;
  updated_at: number;
}

/** A code that replaces a one-time code once. Only its hash is stored. */
interface RecoveryCodeTable {
  person_id: string;
  code_hash: string;
}

/** A link with which a person chooses a password, once. Each person has at most one. */
interface AccountLinkTable {
  person_id: string;
  token_hash: string;
  expires_at: number;
}

/** The failed sign-ins at a mail address, from one network and, with the network `*`, from all. */
interface AccountDelayTable {
  account_hash: string;
  network: string;
  failures: number;
  /** UNIX milliseconds before which no attempt is checked. */
  blocked_until_ms: number;
  /** When somebody last signed in from this network, UNIX seconds. */
  succeeded_at: number | null;
  updated_at: number;
}

export interface AccountTables {
  accounts: AccountTable;
  recovery_codes: RecoveryCodeTable;
  account_links: AccountLinkTable;
  account_delays: AccountDelayTable;
}

export async function createAccountTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("accounts")
    .addColumn("person_id", "text", (column) => column.primaryKey().references("people.id").onDelete("cascade"))
    .addColumn("password_hash", "text", (column) => column.notNull())
    .addColumn("totp_secret", "text")
    .addColumn("totp_step", "bigint")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("recovery_codes")
    .addColumn("person_id", "text", (column) => column.notNull().references("people.id").onDelete("cascade"))
    .addColumn("code_hash", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("recovery_codes_key", ["person_id", "code_hash"])
    .execute();
  await schema
    .createTable("account_links")
    .addColumn("person_id", "text", (column) => column.primaryKey().references("people.id").onDelete("cascade"))
    .addColumn("token_hash", "text", (column) => column.notNull().unique())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("account_delays")
    .addColumn("account_hash", "text", (column) => column.notNull())
    .addColumn("network", "text", (column) => column.notNull())
    .addColumn("failures", "integer", (column) => column.notNull())
    .addColumn("blocked_until_ms", "bigint", (column) => column.notNull())
    .addColumn("succeeded_at", "bigint")
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("account_delays_key", ["account_hash", "network"])
    .execute();
  await schema.createIndex("account_delays_updated").on("account_delays").column("updated_at").execute();
}
