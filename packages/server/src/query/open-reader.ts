/** Opens the store for a query. */
import { AppError } from "../errors.ts";
import type { RouteInput } from "../http/route.ts";
import type { Store, TenantReader } from "../store/store.ts";

type QueryInput = Pick<RouteInput<never>, "memory" | "scope">;

/**
 * A reader of the caller's organization whose reads are charged to the request.
 * @throws AppError overloaded while the store is not ready
 */
export function openReader(store: Pick<Store, "open" | "state">, { memory, scope }: QueryInput): TenantReader {
  const reader = store.open(scope);
  if (store.state().ready) {
    return {
      cache: reader.cache,
      descriptionVersion: reader.descriptionVersion,
      usesRollups: reader.usesRollups,
      encryptsContent: reader.encryptsContent,
      query: (statement, options) => reader.query(statement, { ...options, memory }),
      stream: (statement, options) => reader.stream(statement, { ...options, memory }),
      columns: (statement, options) => reader.columns(statement, { ...options, memory }),
    };
  }
  throw new AppError("overloaded", "The telemetry store is not ready. Retry later.");
}
