/** The events of responses in the background: kept in order for a while, the oldest deleted beyond what each may keep. */
import { sql } from "kysely";
import type { ContentCipher } from "../encryption/content-cipher.ts";
import { inputLimit } from "../input-limits.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import type { ResponseOwner } from "./response-writer.ts";
import { nowSeconds } from "./row-values.ts";

/** A server-sent event. */
export interface ResponseEventText {
  readonly name: string;
  /** JSON. */
  readonly data: string;
}

/** Consecutive events. */
export interface NewEvents {
  /** The sequence number of the first one. */
  readonly first: number;
  readonly events: readonly ResponseEventText[];
}

const mostBytesOfResponse = inputLimit({
  area: "Chat completions",
  bounds: "Kept events of a streamed response in the background",
  value: 8_388_608,
  unit: "bytes",
  error: { instead: "the oldest are deleted" },
});
const mostBytesOfOrganization = inputLimit({
  area: "Chat completions",
  bounds: "Kept events of an organization's responses in the background",
  value: 67_108_864,
  unit: "bytes",
  error: { instead: "the oldest are deleted" },
});
const keptSeconds = inputLimit({
  area: "Chat completions",
  bounds: "Age of the kept events of a response in the background",
  value: 3_600,
  unit: "seconds",
  error: { instead: "they are deleted; the response stays" },
});
/** A row has not many more, so that a reader parses little at once. */
const rowBytes = 131_072;
/** After so many more bytes, an organization's sum is taken again. */
const trimBytes = 4_194_304;

interface EventOwner extends ResponseOwner {
  readonly id: string;
}

export class EventRows {
  readonly #control: ControlDatabase;
  readonly #cipher: ContentCipher;
  /** Bytes since an organization's sum was taken; by organization. */
  readonly #added = new Map<string, number>();

  constructor(control: ControlDatabase, cipher: ContentCipher) {
    this.#control = control;
    this.#cipher = cipher;
  }

  async add(transaction: Writer, owner: EventOwner, added: NewEvents): Promise<void> {
    let bytes = 0;
    for (const row of toRows(owner, added)) {
      bytes += row.bytes;
      const events = this.#cipher.encrypt(row.events, placeOf(owner, row.first_sequence));
      await transaction
        .insertInto("response_events")
        .values({ ...row, events })
        .execute();
    }
    const { organizationId } = owner;
    const sum = (this.#added.get(organizationId) ?? 0) + bytes;
    if (sum < trimBytes) this.#added.set(organizationId, sum);
    else {
      this.#added.delete(organizationId);
      await trim(transaction, organizationId);
    }
  }

  /** A part of the events from this one on, beginning with it, or with a later one where it is deleted. */
  async read(owner: EventOwner, from: number): Promise<NewEvents | undefined> {
    const { organizationId, projectName, id } = owner;
    const row = await this.#control.read((database) =>
      database
        .selectFrom("response_events")
        .select(["first_sequence", "events"])
        .where("organization_id", "=", organizationId)
        .where("project_name", "=", projectName)
        .where("response_id", "=", id)
        .where("last_sequence", ">=", from)
        .orderBy("first_sequence")
        .limit(1)
        .executeTakeFirst(),
    );
    if (row === undefined) return undefined;
    const events = this.#cipher.decrypt(row.events, placeOf(owner, row.first_sequence)).split("\n");
    const skipped = Math.max(0, from - row.first_sequence);
    return { first: row.first_sequence + skipped, events: events.slice(skipped).map(toEvent) };
  }

  async nextSequence(transaction: Writer, { organizationId, projectName, id }: EventOwner): Promise<number> {
    const { last } = await transaction
      .selectFrom("response_events")
      .select(({ fn }) => fn.max<number | null>("last_sequence").as("last"))
      .where("organization_id", "=", organizationId)
      .where("project_name", "=", projectName)
      .where("response_id", "=", id)
      .executeTakeFirstOrThrow();
    return last === null ? 0 : last + 1;
  }

  async removeOld(): Promise<void> {
    await this.#control.write((transaction) =>
      transaction
        .deleteFrom("response_events")
        .where("created_at", "<=", nowSeconds() - keptSeconds)
        .execute(),
    );
  }
}

/** Deletes the oldest events of an organization's responses that are beyond their limits. */
async function trim(transaction: Writer, organizationId: string): Promise<void> {
  const newest = transaction
    .selectFrom("response_events")
    .select(["project_name", "response_id", "first_sequence"])
    .select(
      sql<number>`sum(bytes) over (partition by project_name, response_id order by first_sequence desc)`.as(
        "of_response",
      ),
    )
    .select(
      sql<number>`sum(bytes) over (order by created_at desc, project_name, response_id, first_sequence desc)`.as(
        "of_all",
      ),
    )
    .where("organization_id", "=", organizationId);
  await transaction
    .deleteFrom("response_events")
    .where("organization_id", "=", organizationId)
    .where(({ eb: where, refTuple, selectFrom }) =>
      where(
        refTuple("project_name", "response_id", "first_sequence"),
        "in",
        selectFrom(newest.as("newest"))
          .select(["newest.project_name", "newest.response_id", "newest.first_sequence"])
          .where((found) =>
            found.or([
              found("newest.of_response", ">", mostBytesOfResponse),
              found("newest.of_all", ">", mostBytesOfOrganization),
            ]),
          )
          .$asTuple("project_name", "response_id", "first_sequence"),
      ),
    )
    .execute();
}

/** What events are encrypted for. */
function placeOf({ organizationId, projectName, id }: EventOwner, first: number): string[] {
  return ["response_events", organizationId, projectName, id, String(first)];
}

function* toRows({ organizationId, projectName, id }: EventOwner, { events, first }: NewEvents) {
  for (let start = 0; start < events.length;) {
    let bytes = 0;
    let end = start;
    const lines: string[] = [];
    while (end < events.length && bytes < rowBytes) {
      const { data, name } = events[end++]!;
      const line = `${name} ${data}`;
      bytes += Buffer.byteLength(line);
      lines.push(line);
    }
    yield {
      organization_id: organizationId,
      project_name: projectName,
      response_id: id,
      first_sequence: first + start,
      last_sequence: first + end - 1,
      bytes,
      created_at: nowSeconds(),
      events: lines.join("\n"),
    };
    start = end;
  }
}

function toEvent(line: string): ResponseEventText {
  const space = line.indexOf(" ");
  return { name: line.slice(0, space), data: line.slice(space + 1) };
}
