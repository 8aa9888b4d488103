/** Servers with a role share their data with others, which have the other roles. */
import { isObject } from "../json-object.ts";

interface RoleProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** @param config the resolved configuration, possibly invalid */
export function findRoleProblem(config: unknown): RoleProblem | undefined {
  const section = (name: string) => (isObject(config) && isObject(config[name]) ? config[name] : {});
  const { role } = section("server");
  if (typeof role !== "string" || role === "all") return undefined;
  const { clickhouse, enabled } = section("telemetry");
  const missing = [
    ...(section("storage")["database_url"] === undefined ? ["storage.database_url"] : []),
    ...(enabled === false || (isObject(clickhouse) && clickhouse["url"] !== undefined)
      ? []
      : ["telemetry.clickhouse.url"]),
  ];
  if (missing.length === 0) return undefined;
  const message = `server.role is ${role}, so other servers have the other roles and share this one's data: set ${missing.join(" and ")}, or the role all.`;
  return { path: ["server", "role"], message };
}
