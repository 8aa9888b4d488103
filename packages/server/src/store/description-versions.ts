/**
 * Counts, for each organization, the writes of rows that describe others (series, resources, scopes), so that readers know
 * whether the descriptions that they remember are complete.
 */
import { describesOthers, type TableName } from "./schema.ts";

export class DescriptionVersions {
  readonly #versions = new Map<string, number>();

  of(organizationId: string): number {
    return this.#versions.get(organizationId) ?? 0;
  }

  /** Call it after each insert, also after one that failed: its rows may be stored. */
  inserted(table: TableName, organizationIds: ReadonlySet<string>): void {
    if (!describesOthers(table)) return;
    for (const id of organizationIds) this.#versions.set(id, this.of(id) + 1);
  }

  /** Call it after rows that describe others were erased. */
  erased(organizationId: string): void {
    this.#versions.set(organizationId, this.of(organizationId) + 1);
  }
}
