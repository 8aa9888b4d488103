/** Selects a project of those that telemetry names; absent if the key is bound to one. */
import { requestJson } from "../api/request.ts";
import { useQuery } from "../api/use-query.ts";
import { parameters, setParameters } from "../state/address.ts";
import { session } from "../state/session.ts";

export function ProjectSelect() {
  const { data } = useQuery((signal) =>
    requestJson<{ readonly data: readonly { readonly name: string }[] }>("observability/projects", { signal }),
  );
  const selected = parameters.value.get("project") ?? "";
  if (session.value?.project != null) return null;
  const names = data.value?.data.map(({ name }) => name) ?? [];
  const options = selected === "" || names.includes(selected) ? names : [selected, ...names];
  return (
    <select
      class="select project-select"
      aria-label="Project"
      value={selected}
      onChange={({ currentTarget: { value } }) => setParameters({ project: value === "" ? undefined : value })}
    >
      <option value="">All projects</option>
      {options.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
