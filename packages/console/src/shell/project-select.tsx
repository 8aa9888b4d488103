/** Selects the project that a view is about, of those that have telemetry. A key of one project sees that one only. */
import { requestJson } from "../api/request.ts";
import { useQuery } from "../api/use-query.ts";
import { parameters, setParameters } from "../state/address.ts";
import { session } from "../state/session.ts";

interface ProjectList {
  readonly data: readonly { readonly name: string }[];
}

export function ProjectSelect() {
  const bound = session.value?.project ?? undefined;
  const projects = useQuery((signal) =>
    bound === undefined ? requestJson<ProjectList>("observability/projects", { signal }) : undefined,
  );
  if (bound !== undefined) return <span class="badge">Project {bound}</span>;
  const selected = parameters.value.get("project") ?? "";
  const names = projects.data.value?.data.map(({ name }) => name) ?? [];
  return (
    <select
      class="select"
      aria-label="Project"
      value={selected}
      onChange={({ currentTarget }) =>
        setParameters({ project: currentTarget.value === "" ? undefined : currentTarget.value })
      }
    >
      <option value="">All projects</option>
      {[...new Set(selected === "" ? names : [...names, selected])].map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
