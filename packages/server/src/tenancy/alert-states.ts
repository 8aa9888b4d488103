/** The states of alert rules in the control database: JSON that only alerts/ reads. */
import type { ControlDatabase } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

/** Identifies a rule of an organization. */
export interface AlertRuleId {
  readonly organizationId: string;
  readonly ruleGroup: string;
  readonly rule: string;
}

export interface StoredAlertState extends AlertRuleId {
  readonly state: string;
}

/** Those that have states, archived ones included. */
export async function organizationsWithAlertStates(control: ControlDatabase): Promise<readonly string[]> {
  const rows = await control.read((database) =>
    database.selectFrom("alert_states").select("organization_id as id").distinct().orderBy("id").execute(),
  );
  return rows.map(({ id }) => id);
}

export async function loadAlertStates(
  control: ControlDatabase,
  organizationId: string,
): Promise<readonly StoredAlertState[]> {
  return control.read((database) =>
    database
      .selectFrom("alert_states")
      .select(["organization_id as organizationId", "rule_group as ruleGroup", "rule", "state"])
      .where("organization_id", "=", organizationId)
      .execute(),
  );
}

export async function saveAlertState(control: ControlDatabase, stored: StoredAlertState): Promise<void> {
  const { organizationId, rule, ruleGroup, state } = stored;
  const changed = { state, updated_at: nowSeconds() };
  await control.write((transaction) =>
    transaction
      .insertInto("alert_states")
      .values({ organization_id: organizationId, rule_group: ruleGroup, rule, ...changed })
      .onConflict((conflict) => conflict.columns(["organization_id", "rule_group", "rule"]).doUpdateSet(changed))
      .execute(),
  );
}

export async function deleteAlertState(
  control: ControlDatabase,
  { organizationId, rule, ruleGroup }: AlertRuleId,
): Promise<void> {
  await control.write((transaction) =>
    transaction
      .deleteFrom("alert_states")
      .where("organization_id", "=", organizationId)
      .where("rule_group", "=", ruleGroup)
      .where("rule", "=", rule)
      .execute(),
  );
}
