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

/** @param organizationId absent: of all organizations */
export async function loadAlertStates(
  control: ControlDatabase,
  organizationId?: string,
): Promise<readonly StoredAlertState[]> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("alert_states")
      .select(["organization_id as organizationId", "rule_group as ruleGroup", "rule", "state"]);
    if (organizationId !== undefined) query = query.where("organization_id", "=", organizationId);
    return query.execute();
  });
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
