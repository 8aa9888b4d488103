/** An organization as a link, as a filter of a list, and as a choice in a form. */
import { href, parameter, setParameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import type { Names } from "./admin-lists.ts";

const selected = parameter("organization");

export function OrganizationLink({ id, names }: { readonly id: string; readonly names: Names | undefined }) {
  return (
    <a class="foreign" href={href(`administration/organizations/${id}`)}>
      {names?.organizations.get(id)?.name ?? id}
    </a>
  );
}

/** Only operators see several organizations. */
export function OrganizationFilter({ names }: { readonly names: Names | undefined }) {
  if (session.value?.operator !== true) return null;
  return (
    <select
      class="select"
      aria-label="Organization"
      value={selected.value ?? ""}
      onChange={(event) => setParameters({ organization: event.currentTarget.value || undefined })}
    >
      <option value="">All organizations</option>
      <OrganizationOptions names={names} kept={selected.value} />
    </select>
  );
}

/** @param kept an ID that is offered even if its organization is archived or unknown */
export function OrganizationOptions({
  names,
  kept,
}: {
  readonly names: Names | undefined;
  readonly kept?: string | undefined;
}) {
  const known = [...(names?.organizations.values() ?? [])];
  const offered = known.filter(({ id, archived_at }) => archived_at === null || id === kept);
  const sorted = offered.toSorted((one, other) => one.name.localeCompare(other.name));
  return (
    <>
      {sorted.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {kept !== undefined && !offered.some(({ id }) => id === kept) && <option value={kept}>{kept}</option>}
    </>
  );
}
