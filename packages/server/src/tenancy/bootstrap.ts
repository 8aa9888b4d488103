/**
 * The first start: an organization, a project and two keys, so that a new server can be used at once; and the
 * operator's key of the configuration, at every start.
 */
import { AppError } from "../errors.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import { insertKey } from "./keys.ts";
import { insertOrganization } from "./organizations.ts";
import { hashSecret, maximumSecretLength } from "./secret.ts";
import { nowSeconds } from "./row-values.ts";

const defaultOrganizationName = "default";

/** What the first start made. The secrets are shown this once. */
export interface InitialCredentials {
  readonly organization: string;
  /** Secret of a key for inference and telemetry. */
  readonly key: string;
  /** Secret of the operator's key; undefined when the configuration gives one. */
  readonly operatorKey: string | undefined;
}

export interface BootstrapOptions {
  /** The operator's key of the configuration: `sk-` and at least 32 more characters. */
  readonly adminKey?: string | undefined;
}

/**
 * Makes what a new database lacks and installs the configured operator's key, revoking the one configured before.
 * Several servers may do so at once: one makes everything, the others find it.
 * @returns the secrets when this was the first start
 * @throws AppError invalid_request when the configured key has the wrong form or is another key's secret
 */
export async function bootstrap(
  control: ControlDatabase,
  { adminKey }: BootstrapOptions = {},
): Promise<InitialCredentials | undefined> {
  if (adminKey !== undefined) checkForm(adminKey);
  return control.change(async (transaction) => {
    const any = await transaction.selectFrom("organizations").select("id").limit(1).executeTakeFirst();
    if (any === undefined) return createFirstObjects(transaction, adminKey);
    if (adminKey !== undefined) await installAdminKey(transaction, adminKey);
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
      `The configured operator's key has ${adminKey.length} characters or others than allowed; "sk-" and 32 to ${maximumSecretLength - 3} letters, digits, _ and - are expected.`,
      { param: "admin_key" },
    );
  }
}

/** The configuration is the truth: its key works, even if it was revoked, and those configured before do not. */
async function installAdminKey(transaction: Writer, adminKey: string): Promise<void> {
  const organizationId = await organizationInUse(transaction);
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
    .select(["id", "configured"])
    .where("secret_hash", "=", hash)
    .executeTakeFirst();
  if (same === undefined) {
    await insertKey(
      transaction,
      { organizationId, name: "operator (from the configuration)", permissions: ["admin"], operator: true },
      { secret: adminKey, configured: true },
    );
    return;
  }
  if (same.configured === 0) {
    throw new AppError("invalid_request", `The configured operator's key is the secret of another key, ${same.id}.`, {
      param: "admin_key",
    });
  }
  await transaction
    .updateTable("keys")
    .set({ organization_id: organizationId, revoked_at: null, expires_at: null })
    .where("id", "=", same.id)
    .execute();
}

/** The oldest organization in use, so that the operator's key has a home that works. */
async function organizationInUse(transaction: Writer): Promise<string> {
  const oldest = await transaction
    .selectFrom("organizations")
    .select("id")
    .where("archived_at", "is", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return oldest?.id ?? (await insertOrganization(transaction, { name: defaultOrganizationName })).id;
}
