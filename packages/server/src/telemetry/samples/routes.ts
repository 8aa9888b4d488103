/** Serves the deletion of sample telemetry: one at a time for an organization, because each rewrites parts of tables. */
import { deleteSamples } from "../../api/observability-samples.ts";
import { AppError } from "../../errors.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { removeSamples } from "./remove-samples.ts";

export function sampleRoutes(store: Pick<Store, "open" | "remove" | "state">): Route[] {
  const running = new Set<string>();
  return [
    route(deleteSamples, async ({ body, scope, signal }) => {
      scope.requireOrganization(body.organization_id);
      const { projectName } = scope.key;
      if (projectName !== undefined && projectName !== body.project_name) {
        throw new AppError(
          "project_mismatch",
          `This API key is bound to the project ${JSON.stringify(projectName)}; project_name is ${JSON.stringify(body.project_name)}.`,
          { param: "project_name" },
        );
      }
      const { organizationId } = scope;
      if (!store.state().ready) throw new AppError("overloaded", "The telemetry store is not ready. Retry later.");
      if (running.has(organizationId)) {
        throw new AppError("conflict", "Samples of this organization are being deleted already. Retry later.");
      }
      running.add(organizationId);
      try {
        const removed = await removeSamples(store, scope, { project: body.project_name, signal });
        return { kind: "json", value: { object: "samples_deletion", project_name: body.project_name, ...removed } };
      } finally {
        running.delete(organizationId);
      }
    }),
  ];
}
