/** Selects a service of those that spans name. */
import { useQuery } from "../../api/use-query.ts";
import { parameters, setParameters } from "../../state/address.ts";
import { moments } from "../../state/time-range.ts";
import { labelValues } from "../../telemetry/label-values.ts";

export function ServiceSelect() {
  const { data } = useQuery((signal) => labelValues("service_name", moments.peek(), signal));
  const selected = parameters.value.get("service_name") ?? "";
  const names = new Set([...(selected === "" ? [] : [selected]), ...(data.value ?? [])]);
  return (
    <select
      class="select project-select"
      aria-label="Service"
      value={selected}
      onChange={({ currentTarget: { value } }) => setParameters({ service_name: value === "" ? undefined : value })}
    >
      <option value="">All services</option>
      {[...names].map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
