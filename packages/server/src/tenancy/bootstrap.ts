/**
 * Creates an organization, a project and two keys at the first start, so that a new server can be used at once, and
 * installs the configured operator's key at every start.
 */
import { AppError } from "../errors.ts";
import { appendEntries, systemEntry } from "./audit/chain.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import { insertKey } from "./keys.ts";
import { insertOrganization } from "./organizations.ts";
import { hashSecret, maximumSecretLength } from "./secret.ts";
import { nowSeconds } from "./row-values.ts";

const defaultOrganizationName = "default";

/** What the first start created. The secrets are shown only once. */
export interface InitialCredentials {
  readonly organization: string;
  /** Secret of a key for inference and telemetry. */
  readonly key: string;
  /** Secret of the operator's key; undefined if one is configured. */
  readonly operatorKey: string | undefined;
}

export interface BootstrapOptions {
  /** The configured operator's key: `sk-` and at least 32 more characters. */
  readonly adminKey?: string | undefined;
}

/**
 * Creates the first objects in a new database, and installs the configured operator's key, revoking the previous one.
 * Several servers may do so at once; only one creates the objects.
 * @returns the secrets if this was the first start
 * @throws AppError invalid_request when the configured key has the wrong form or is another key's secret
 */
export async function bootstrap(
  control: ControlDatabase,
  { adminKey }: BootstrapOptions = {},
): Promise<InitialCredentials | undefined> {
  if (adminKey !== undefined) checkForm(adminKey);
  return control.change(async (transaction) => {
    const any = await transaction.selectFrom("organizations").select("id").limit(1).executeTakeFirst();
    if (any === undefined) {
      const created = await createFirstObjects(transaction, adminKey);
      await appendEntries(transaction, [systemEntry("createFirstKeys", { organization: created.organization })]);
      return created;
    }
    if (adminKey === undefined) return undefined;
    const installed = await installAdminKey(transaction, adminKey);
    if (installed !== undefined)
      await appendEntries(transaction, [systemEntry("installConfiguredKey", { key_id: installed })]);
    return undefined;
  });
}

async function createFirstObjects(transaction: Writer, adminKey: string | undefined): Promise<InitialCredentials> {
  const organization = await insertOrganization(transaction, { name: defaultOrganizationName });
  const organizationId = organization.id;
  const key = await insertKey(transaction, { organizationId, name: "first key" });
  let operatorKey: string | undefined;
  if (adminKey === undefined) {
    const operator = { organizationId, name: "operator", permissions: ["admin" as const], operator: true };
    operatorKey = (await insertKey(transaction, operator)).secret;
  } else {
    await installAdminKey(transaction, adminKey);
  }
  return { organization: organization.name, key: key.secret, operatorKey };
}

function checkForm(adminKey: string): void {
  if (!/^sk-[\w-]{32,}$/.test(adminKey) || adminKey.length > maximumSecretLength) {
    throw new AppError(
      "invalid_request",
      `The configured operator key has ${adminKey.length} characters, or contains characters that are not allowed; it must be "sk-" and 32 to ${maximumSecretLength - 3} letters, digits, _ and -.`,
      { param: "admin_key" },
    );
  }
}

/**
 * The configuration takes precedence: its key works even if it was revoked, and previously configured keys do not.
 * @returns the key if it did not work before
 */
async function installAdminKey(transaction: Writer, adminKey: string): Promise<string | undefined> {
  const organizationId = await oldestActiveOrganization(transaction);
  const hash = hashSecret(adminKey);
  const now = nowSeconds();
  await transaction
    .updateTable("keys")
    .set({ revoked_at: now })
    .where("configured", "=", 1)
    .where("secret_hash", "!=", hash)
    .where("revoked_at", "is", null)
    .execute();
  const same = await transaction
    .selectFrom("keys")
    .select(["id", "configured", "revoked_at"])
    .where("secret_hash", "=", hash)
    .executeTakeFirst();
  if (same === undefined) {
    const { id } = await insertKey(
      transaction,
      { organizationId, name: "operator (from the configuration)", permissions: ["admin"], operator: true },
      { secret: adminKey, configured: true },
    );
    return id;
  }
  if (same.configured === 0) {
    throw new AppError(
      "invalid_request",
      `The configured operator key is already the secret of another key, ${same.id}.`,
      {
        param: "admin_key",
      },
    );
  }
  await transaction
    .updateTable("keys")
    .set({ organization_id: organizationId, revoked_at: null, expires_at: null })
    .where("id", "=", same.id)
    .execute();
  return same.revoked_at === null ? undefined : same.id;
}

/** The oldest organization that is not archived, to which the operator's key belongs. */
async function oldestActiveOrganization(transaction: Writer): Promise<string> {
  const oldest = await transaction
    .selectFrom("organizations")
    .select("id")
    .where("archived_at", "is", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return oldest?.id ?? (await insertOrganization(transaction, { name: defaultOrganizationName })).id;
}
