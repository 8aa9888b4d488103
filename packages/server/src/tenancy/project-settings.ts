/** Project settings for the modules that write telemetry, cached like keys. */
import { defaultProjectSettings } from "../api/admin.ts";
import type { ProjectSettings, Scope } from "../tenant.ts";
import type { ControlDatabase } from "./control-database.ts";
import { createRevalidatingCache } from "./revalidating-cache.ts";
import { parseSettings } from "./projects.ts";

/**
 * The settings of the scope's project; the defaults for a project that exists only in telemetry. Synchronous on a cache hit.
 * @throws AppError overloaded while the database is unreachable and the settings are not cached
 */
export type ProjectSettingsOf = (scope: Scope) => ProjectSettings | Promise<ProjectSettings>;

export function createProjectSettings(control: ControlDatabase): ProjectSettingsOf {
  const cache = createRevalidatingCache<Scope, ProjectSettings>({
    load: (scope) => load(control, scope),
    now: Date.now,
  });
  control.onChange(() => cache.clear());
  return (scope) => {
    const found = cache.get(`${scope.organizationId} ${scope.projectName}`, scope);
    return found instanceof Promise ? found.then((settings) => settings ?? defaultProjectSettings) : found;
  };
}

async function load(control: ControlDatabase, scope: Scope): Promise<ProjectSettings> {
  const row = await control.read((database) =>
    database
      .selectFrom("projects")
      .select("settings")
      .where("organization_id", "=", scope.organizationId)
      .where("name", "=", scope.projectName)
      .where("archived_at", "is", null)
      .executeTakeFirst(),
  );
  return row === undefined ? defaultProjectSettings : parseSettings(row.settings);
}
