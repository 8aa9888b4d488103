/**
 * Writes responses in groups. A transaction waits for the disk, and SQLite holds the event loop meanwhile: many calls that end
 * together wait once.
 */
import { setImmediate } from "node:timers/promises";
import { sql, type Insertable } from "kysely";
import type { Logger } from "../logger.ts";
import type { Scope } from "../tenant.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import type { ControlTables } from "./tables.ts";

/** Old responses of an organization are looked for once in so many that are stored. */
const trimInterval = 32;
/** Then some more go, so that it is not needed again soon. */
const kept = 0.95;
/** A group ends with the response that exceeds it. */
const groupBytes = 1_048_576;
const groupSize = 16;

export type ResponseOwner = Pick<Scope, "organizationId" | "projectName">;

/** Where a response's text is stored: what it is encrypted for. */
export function placeOf(
  column: "input" | "response",
  { organizationId, projectName }: ResponseOwner,
  id: string,
): string[] {
  return ["responses", column, organizationId, projectName, id];
}

/** What an organization may store. */
export interface MostStored {
  readonly bytes: number;
  readonly responses: number;
}

interface Addition {
  readonly row: Insertable<ControlTables["responses"]>;
  readonly itemIds: readonly string[];
}

type Waiting = Addition & { readonly onEnd: (isStored: boolean) => void };

export class ResponseWriter {
  readonly #control: ControlDatabase;
  readonly #logger: Logger;
  readonly #most: MostStored;
  readonly #waiting: Waiting[] = [];
  #isWriting = false;
  /** By organization. */
  readonly #untilTrim = new Map<string, number>();

  constructor(control: ControlDatabase, { logger, most }: { readonly logger: Logger; readonly most: MostStored }) {
    this.#control = control;
    this.#logger = logger;
    this.#most = most;
  }

  /** Replaces a response of the same ID. @returns false if the database fails, for which no answer must be lost */
  add(addition: Addition): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ ...addition, onEnd: resolve });
      if (this.#isWriting) return;
      this.#isWriting = true;
      void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // What else ends in this turn of the event loop joins the group, and other calls go on between groups.
      await setImmediate();
      const group = this.#nextGroup();
      const isStored = await this.#write(group);
      for (const { onEnd } of group) onEnd(isStored);
    }
    this.#isWriting = false;
  }

  #nextGroup(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ row }, index) => {
      bytes += row.bytes;
      return bytes >= groupBytes || index + 1 >= groupSize;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end + 1);
  }

  async #write(group: readonly Addition[]): Promise<boolean> {
    try {
      await this.#control.write(async (transaction) => {
        const [first] = group;
        await transaction.deleteFrom("responses").where("expires_at", "<=", first!.row.created_at).execute();
        for (const { itemIds, row } of group) {
          const { organization_id, project_name, id: response_id } = row;
          if (this.#isTrimDue(organization_id)) await this.#trim(transaction, organization_id);
          await removeResponse(
            transaction,
            { organizationId: organization_id, projectName: project_name },
            response_id,
          );
          await transaction.insertInto("responses").values(row).execute();
          const items = itemIds.map((id) => ({ organization_id, project_name, id, response_id }));
          if (items.length > 0) await transaction.insertInto("response_items").values(items).execute();
        }
      });
      return true;
    } catch (error) {
      this.#logger.warn({ error, responses: group.length }, "some responses were not stored");
      return false;
    }
  }

  #isTrimDue(organizationId: string): boolean {
    const left = this.#untilTrim.get(organizationId) ?? 0;
    this.#untilTrim.set(organizationId, left > 0 ? left - 1 : trimInterval);
    return left <= 0;
  }

  /** Deletes the oldest responses of an organization that is beyond its limits. */
  async #trim(transaction: Writer, organizationId: string): Promise<void> {
    const { bytes, responses } = this.#most;
    const stored = await transaction
      .selectFrom("responses")
      .select((select) => [select.fn.countAll<number>().as("responses"), select.fn.sum<number>("bytes").as("bytes")])
      .where("organization_id", "=", organizationId)
      .executeTakeFirstOrThrow();
    if (stored.responses <= responses && stored.bytes <= bytes) return;
    const newest = transaction
      .selectFrom("responses")
      .select(["project_name", "id"])
      .select(sql<number>`sum(bytes) over (order by created_at desc, id desc)`.as("bytes_so_far"))
      .select(sql<number>`row_number() over (order by created_at desc, id desc)`.as("place"))
      .where("organization_id", "=", organizationId);
    await transaction
      .deleteFrom("responses")
      .where("organization_id", "=", organizationId)
      .where(({ eb: where, refTuple, selectFrom }) =>
        where(
          refTuple("project_name", "id"),
          "in",
          selectFrom(newest.as("newest"))
            .select(["newest.project_name", "newest.id"])
            .where((found) =>
              found.or([
                found("newest.bytes_so_far", ">", Math.floor(bytes * kept)),
                found("newest.place", ">", Math.floor(responses * kept)),
              ]),
            )
            .$asTuple("project_name", "id"),
        ),
      )
      .execute();
  }
}

/** @returns whether there was one */
export async function removeResponse(
  transaction: Writer,
  { organizationId, projectName }: ResponseOwner,
  id: string,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("responses")
    .where("id", "=", id)
    .where("organization_id", "=", organizationId)
    .where("project_name", "=", projectName)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
