/** `sounding key list`. */
import { connectionOptions, organizationOption, withAdminApi, type AdminObject } from "../administration.ts";
import { showTime } from "../admin-output.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";
import { projectOption, type Key } from "./key-options.ts";

export const listCommand = command({
  name: "list",
  summary: "List API keys, without their secrets",
  options: {
    revoked: { type: "boolean", description: "Include revoked keys." },
    ...projectOption,
    ...organizationOption,
    ...timeOptions,
    ...connectionOptions,
  },
  async run({ values, json, io }) {
    const { all, organizations, roles } = await withAdminApi(values, io, async (api) => ({
      all: await api.list<Key>("/keys", {
        organization_id: values.organization,
        project_id: values.project === undefined ? undefined : await api.projectId(values.project, values.organization),
        include_revoked: values.revoked,
      }),
      organizations: json ? undefined : await api.organizationNames(),
      roles: json
        ? undefined
        : new Map((await api.list<AdminObject>("/roles", {})).map(({ id, name }) => [id, name] as const)),
    }));
    if (json) {
      await writeJson(io.stdout, all);
    } else {
      const rows = all.map((each) => [
        each.name,
        organizations?.get(each.organization_id) ?? each.organization_id,
        each.redacted_secret,
        rightsOf(each, roles),
        showTime(each.last_used_at, values),
        showTime(each.expires_at, values),
        ...(values.revoked === true ? [showTime(each.revoked_at, values)] : []),
        each.id,
      ]);
      const columns = [
        "name",
        "organization",
        { title: "key", whole: true, optional: 1 },
        "permissions",
        { title: "last used", whole: true, optional: 3 },
        { title: "expires", whole: true, optional: 2 },
        ...(values.revoked === true ? [{ title: "revoked", whole: true }] : []),
        { title: "id", whole: true, optional: 4 },
      ];
      await writeTable(io, columns, rows);
    }
    return exitCodes.ok;
  },
});

/** The permissions or the role of a key, and whose it is. */
function rightsOf(
  { operator, permissions, person_id: person, role }: Key,
  roles?: ReadonlyMap<string, string>,
): string {
  const rights = role === null ? permissions.join(", ") : `role ${roles?.get(role) ?? role}`;
  return `${rights}${operator ? " (operator)" : ""}${person === null ? "" : " (personal)"}`;
}
