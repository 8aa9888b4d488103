/** Selects a value of a label that occurs in the time range, as a parameter of the address. */
import { useQuery } from "../../api/use-query.ts";
import { parameters, setParameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { moments, timeRange } from "../../state/time-range.ts";
import { project } from "./metrics-address.ts";
import { labelValues } from "./prometheus.ts";

export function LabelFilter({
  parameter,
  label,
  name,
  all,
}: {
  readonly parameter: string;
  readonly label: string;
  /** The field's name, and the title of no choice. */
  readonly name: string;
  readonly all: string;
}) {
  const values = useQuery(
    (signal) => {
      // The choice does not follow the clock: a live view asks for it once.
      void timeRange.value;
      void project.value;
      return labelValues(label, moments.peek(), signal);
    },
    [label],
  );
  const selected = parameters.value.get(parameter) ?? "";
  // A key that is bound to a project sees this one only.
  if (parameter === "project" && session.value?.project != null) return null;
  const known = values.data.value ?? [];
  const choices = selected === "" || known.includes(selected) ? known : [selected, ...known];
  return (
    <select
      class="select metrics-filter"
      aria-label={name}
      value={selected}
      onChange={({ currentTarget: { value } }) => setParameters({ [parameter]: value === "" ? undefined : value })}
    >
      <option value="">{all}</option>
      {choices.map((value) => (
        <option key={value} value={value}>
          {value.length > 80 ? `${value.slice(0, 80)}…` : value}
        </option>
      ))}
    </select>
  );
}
