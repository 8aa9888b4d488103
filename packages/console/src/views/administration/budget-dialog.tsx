/** Creates a budget, or changes its name, amount, thresholds and what happens to calls that do not fit. */
import { useSignal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Budget } from "../../api/budget-types.ts";
import { requestJson } from "../../api/request.ts";
import { session } from "../../state/session.ts";
import type { Names } from "./admin-lists.ts";
import { Field, FormDialog } from "./form-dialog.tsx";
import { OrganizationOptions } from "./organization-link.tsx";
import { TextField } from "./text-field.tsx";

const subjectTitles = {
  organization: "The organization",
  project: "Projects",
  key: "API keys",
  user: "End users",
  model: "Models",
  tag: "Tags",
} as const;
const periodTitles = { day: "Every day", week: "Every week", month: "Every month", total: "Never" } as const;
const valueHints = {
  organization: "",
  project: "Name of the project.",
  key: "ID of the key.",
  user: "The application's identifier of the user.",
  model: "Model ID or alias.",
  tag: "Value of the tag.",
} as const;

interface BudgetDialogProps {
  /** Absent: a new one. */
  readonly budget?: Budget;
  readonly names: Names | undefined;
  /** The organization of a new budget, if it is already chosen. */
  readonly organizationId?: string | undefined;
  readonly onClose: () => void;
  readonly onDone: (budget: Budget) => void;
}

export function BudgetDialog({ budget, names, organizationId, onClose, onDone }: BudgetDialogProps) {
  const name = useSignal(budget?.name ?? "");
  const amount = useSignal(budget === undefined ? "" : String(budget.amount));
  const thresholds = useSignal((budget?.thresholds ?? [80, 100]).join(", "));
  const enforced = useSignal(budget?.enforced ?? true);
  const allowsUnpriced = useSignal(budget?.unpriced === "allow");
  const organization = useSignal(organizationId ?? session.value!.organization_id);
  const subject = useSignal<Budget["subject"]>("organization");
  const value = useSignal("");
  const tag = useSignal("");
  const period = useSignal<Budget["period"]>("month");
  const timeZone = useSignal("UTC");
  const save = async () => {
    const changes = {
      name: name.value.trim(),
      amount: Number(amount.value),
      thresholds: thresholds.value
        .split(/[,\s]+/)
        .filter((text) => text !== "")
        .map(Number),
      enforced: enforced.value,
      unpriced: allowsUnpriced.value ? "allow" : "refuse",
    };
    if (budget !== undefined) {
      onDone(await requestJson<Budget>(`admin/v1/budgets/${budget.id}`, { method: "PATCH", json: changes }));
      return;
    }
    const json = {
      ...changes,
      organization_id: organization.value,
      subject: subject.value,
      value: value.value.trim() || null,
      tag: subject.value === "tag" ? tag.value.trim() : null,
      period: period.value,
      time_zone: timeZone.value.trim(),
    };
    onDone(await requestJson<Budget>("admin/v1/budgets", { json }));
  };
  return (
    <FormDialog
      title={budget === undefined ? "New budget" : "Edit the budget"}
      action={budget === undefined ? "Create" : "Save"}
      onClose={onClose}
      onSubmit={save}
    >
      <TextField name="name" label="Name" text={name} required />
      <Field name="amount" label={`Amount${budget === undefined ? "" : ` in ${budget.currency}`}`}>
        {(props) => (
          <input
            {...props}
            class="input"
            type="number"
            required
            step="any"
            inputMode="decimal"
            value={amount.value}
            onInput={(event) => (amount.value = event.currentTarget.value)}
          />
        )}
      </Field>
      {budget === undefined && (
        <>
          {session.value!.operator && (
            <Choice name="organization_id" label="Organization" choice={organization}>
              <OrganizationOptions names={names} kept={organization.value} />
            </Choice>
          )}
          <Choice name="subject" label="For" choice={subject}>
            <Options titles={subjectTitles} />
          </Choice>
          {subject.value === "tag" && (
            <TextField
              name="tag"
              label="Name of the tag"
              text={tag}
              hint="A member of the metadata of requests."
              required
            />
          )}
          {subject.value !== "organization" && (
            <TextField
              name="value"
              label="Which one"
              text={value}
              hint={`${valueHints[subject.value]} Empty: each one has the whole amount.`}
            />
          )}
          <Choice name="period" label="Starts again" choice={period}>
            <Options titles={periodTitles} />
          </Choice>
          {period.value !== "total" && (
            <TextField name="time_zone" label="Time zone" text={timeZone} hint="Such as Europe/Berlin." required />
          )}
        </>
      )}
      <TextField
        name="thresholds"
        label="Report at"
        text={thresholds}
        hint="Percentages. When one is reached, the log and the receivers of alerts get it, once in the period."
      />
      <Check label="Refuse calls that do not fit" checked={enforced} />
      {enforced.value && <Check label="Allow models without a known price, uncounted" checked={allowsUnpriced} />}
    </FormDialog>
  );
}

function Choice<Value extends string>({
  name,
  label,
  choice,
  children,
}: {
  readonly name: string;
  readonly label: string;
  readonly choice: Signal<Value>;
  readonly children: JSX.Element;
}) {
  return (
    <Field name={name} label={label}>
      {(props) => (
        <select
          {...props}
          class="select"
          value={choice.value}
          onChange={(event) => (choice.value = event.currentTarget.value as Value)}
        >
          {children}
        </select>
      )}
    </Field>
  );
}

function Options({ titles }: { readonly titles: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(titles).map(([id, title]) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </>
  );
}

function Check({ label, checked }: { readonly label: string; readonly checked: Signal<boolean> }) {
  return (
    <label class="administration-check">
      <input
        type="checkbox"
        checked={checked.value}
        onChange={(event) => (checked.value = event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}
