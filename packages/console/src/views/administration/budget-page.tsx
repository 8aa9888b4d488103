/** One budget: what it counts, what is used of it, and by which values. */
import type { Budget } from "../../api/budget-types.ts";
import { request } from "../../api/request.ts";
import { formatTime } from "../../design/format.ts";
import { href, navigate } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { useEvery } from "../../state/use-every.ts";
import { useNames } from "./admin-lists.ts";
import { BudgetBar, money, periodNames, subjectOf } from "./budget-bar.tsx";
import { BudgetDialog } from "./budget-dialog.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { closeDialog, isDialogOpen, showDialog } from "./dialogs.ts";
import { Fact, Facts, IdFact, ObjectPage, useObject } from "./object-page.tsx";
import { OrganizationLink } from "./organization-link.tsx";

const refreshMs = 5_000;

export function BudgetPage({ id }: { readonly id: string }) {
  const query = useObject<Budget>(`budgets/${id}`);
  const names = useNames().data.value;
  useEvery(refreshMs, query.reload);
  return (
    <ObjectPage
      query={query}
      kind="budgets"
      actions={({ operator }) =>
        (session.value?.operator === true || !operator) && (
          <>
            <button type="button" class="button" onClick={() => showDialog("edit")}>
              Edit
            </button>
            <button type="button" class="button danger" onClick={() => showDialog("delete")}>
              Delete
            </button>
          </>
        )
      }
    >
      {(budget) => (
        <>
          <Facts>
            <IdFact id={budget.id} />
            <Fact name="Organization">
              <OrganizationLink id={budget.organization_id} names={names} />
            </Fact>
            <Fact name="For">
              <span class="foreign">{subjectOf(budget)}</span>
            </Fact>
            <Fact name="Amount">
              {money(budget.amount, budget.currency)} {periodNames[budget.period]}
            </Fact>
            <Fact name="Calls that do not fit">{budget.enforced ? "are refused" : "are allowed"}</Fact>
            <Fact name="Models without a price">
              {budget.enforced && budget.unpriced === "refuse" ? "are refused" : "are allowed, and not counted"}
            </Fact>
            <Fact name="Reported at">
              {budget.thresholds.length === 0 ? "Nothing" : budget.thresholds.map((each) => `${each} %`).join(", ")}
            </Fact>
            <Fact name="Starts again">
              {budget.resets_at === null
                ? "Never"
                : `${formatTime(budget.resets_at * 1000).slice(0, 16)}, by the time of ${budget.time_zone}`}
            </Fact>
            <Fact name="Used">
              {money(budget.used, budget.currency)}
              {budget.reserved > 0 && `, and ${money(budget.reserved, budget.currency)} reserved`}
              {budget.remaining !== null && (
                <BudgetBar amount={budget.amount} use={budget} label="What is used of the budget" />
              )}
            </Fact>
          </Facts>
          <Values budget={budget} />
          {isDialogOpen("edit") && (
            <BudgetDialog
              budget={budget}
              names={names}
              onClose={closeDialog}
              onDone={() => {
                closeDialog();
                query.reload();
              }}
            />
          )}
          {isDialogOpen("delete") && (
            <ConfirmDialog
              title="Delete the budget"
              name={budget.name}
              action="Delete"
              onClose={closeDialog}
              onConfirm={async () => {
                await request(`admin/v1/budgets/${id}`, { method: "DELETE" });
                navigate(href("administration/budgets"), { replace: true });
              }}
            >
              Calls no longer count in <strong class="foreign">{budget.name}</strong>, and what is recorded of its use
              is deleted. This cannot be undone.
            </ConfirmDialog>
          )}
        </>
      )}
    </ObjectPage>
  );
}

function Values({ budget: { amount, currency, subject, tag, values } }: { readonly budget: Budget }) {
  if (values === undefined) return null;
  if (values.length === 0) return <p class="muted">Nothing was used in this period.</p>;
  return (
    <div class="administration-frame">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{tag === null ? subject[0]!.toUpperCase() + subject.slice(1) : tag}</th>
            <th scope="col">Used</th>
            <th scope="col">Remaining</th>
          </tr>
        </thead>
        <tbody>
          {values.map((each) => (
            <tr key={each.value}>
              <th scope="row">
                <span class="foreign">{each.value}</span>
              </th>
              <td>
                {money(each.used, currency)}
                <BudgetBar amount={amount} use={each} label={each.value} />
              </td>
              <td>{money(each.remaining ?? 0, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
