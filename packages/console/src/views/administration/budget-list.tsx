/** The list of budgets, with what is used and reserved of them now. */
import type { Budget } from "../../api/budget-types.ts";
import { formatTime } from "../../design/format.ts";
import { href, navigate, parameter } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { useEvery } from "../../state/use-every.ts";
import { useNames, usePagedList, type Names } from "./admin-lists.ts";
import { BudgetBar, money, periodNames, subjectOf } from "./budget-bar.tsx";
import { BudgetDialog } from "./budget-dialog.tsx";
import { closeDialog, isDialogOpen } from "./dialogs.ts";
import { listSearch, ObjectTable, type Column } from "./object-table.tsx";
import { OrganizationFilter, OrganizationLink } from "./organization-link.tsx";

const organizationId = parameter("organization");
const refreshMs = 5_000;

export function BudgetList() {
  const names = useNames().data.value;
  const list = usePagedList<Budget>("budgets", {
    search: listSearch.value,
    organization_id: organizationId.value,
  });
  useEvery(refreshMs, list.query.reload);
  return (
    <>
      <ObjectTable list={list} columns={columnsOf(names)} what="budgets" createLabel="New budget">
        <OrganizationFilter names={names} />
      </ObjectTable>
      {isDialogOpen("create") && (
        <BudgetDialog
          names={names}
          organizationId={organizationId.value}
          onClose={closeDialog}
          onDone={({ id }) => navigate(href(`administration/budgets/${id}`), { replace: true })}
        />
      )}
    </>
  );
}

function columnsOf(names: Names | undefined): readonly Column<Budget>[] {
  const organization: Column<Budget> = {
    title: "Organization",
    wide: true,
    render: (budget) => <OrganizationLink id={budget.organization_id} names={names} />,
  };
  return [
    {
      title: "Name",
      render: ({ enforced, id, name }) => (
        <>
          <a data-row class="foreign" href={href(`administration/budgets/${id}`)}>
            {name}
          </a>{" "}
          {!enforced && <span class="badge">only reports</span>}
        </>
      ),
    },
    ...(session.value?.operator === true ? [organization] : []),
    { title: "For", wide: true, render: (budget) => <span class="foreign">{subjectOf(budget)}</span> },
    {
      title: "Used",
      render: (budget) => (
        <span class="administration-budget">
          <span>
            {money(budget.used, budget.currency)}{" "}
            <span class="muted">
              of {money(budget.amount, budget.currency)} {periodNames[budget.period]}
            </span>
          </span>
          {budget.remaining !== null && <BudgetBar amount={budget.amount} use={budget} label={budget.name} />}
        </span>
      ),
    },
    {
      title: "Starts again",
      wide: true,
      render: ({ resets_at: resetsAt }) =>
        resetsAt === null ? <span class="muted">Never</span> : formatTime(resetsAt * 1000).slice(0, 16),
    },
  ];
}
