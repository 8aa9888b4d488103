/** Responses of the Responses API in the control database: for a time, for their project, up to a size for each organization. */
import { plainContent, type ContentCipher } from "../encryption/content-cipher.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { JsonObject } from "../json-object.ts";
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "./control-database.ts";
import {
  placeOf,
  removeResponse,
  ResponseWriter,
  type MostStored,
  type ResponseOwner as Owner,
} from "./response-writer.ts";
import { nowSeconds } from "./row-values.ts";

export const daySeconds = 86_400;
/** How often expired responses are deleted where no new one is stored, which does it too. */
const sweepIntervalMs = 3_600_000;
export const largestStoredResponse = inputLimit({
  area: "Chat completions",
  bounds: "A stored response with its input",
  value: 1_048_576,
  unit: "bytes",
  error: { instead: "the response is not stored" },
});
const mostBytes = inputLimit({
  area: "Chat completions",
  bounds: "Stored responses of an organization",
  value: 268_435_456,
  unit: "bytes",
  error: { instead: "the oldest are deleted" },
});
const mostResponses = inputLimit({
  area: "Chat completions",
  bounds: "Stored responses of an organization",
  value: 20_000,
  error: { instead: "the oldest are deleted" },
});
const longestConversation = inputLimit({
  area: "Chat completions",
  bounds: "Responses that `previous_response_id` leads to, one after another",
  value: 1_000,
  error: "invalid_request",
});

const mostItems = inputLimit({
  area: "Chat completions",
  bounds: "Items of a stored response that requests can refer to",
  value: 1_000,
  error: { instead: "the others are unknown" },
});

export interface NewResponse {
  readonly id: string;
  /** The engine that has it too; undefined for a translated call. */
  readonly engine: string | undefined;
  readonly previousId: string | undefined;
  /** The items that were new in the request. */
  readonly input: readonly JsonObject[];
  readonly response: JsonObject;
}

export interface StoredResponse extends Omit<NewResponse, "input"> {
  /** Parses the items that were new in the request, which may have a megabyte. */
  readonly readInput: () => readonly JsonObject[];
  readonly output: readonly JsonObject[];
  /** Of both as JSON. */
  readonly bytes: number;
  /** Only of a response that was asked for in the background. */
  readonly background: BackgroundState | undefined;
}

export interface BackgroundState {
  readonly status: "queued" | "in_progress" | "ended";
  /** Whether its events are kept. */
  readonly isStreamed: boolean;
  /** Whether the process that generates it has gone. */
  readonly isLost: boolean;
  /** Its ID at the engine, if that differs. */
  readonly upstreamId: string | undefined;
}

export interface StoredResponseOptions {
  /** 0: nothing is stored. */
  readonly retentionDays: number;
  readonly logger: Logger;
  /** Absent: responses are stored as they are. */
  readonly cipher?: ContentCipher | undefined;
  /** What an organization may store; tests make it less. */
  readonly most?: MostStored;
}

export class StoredResponses {
  readonly #control: ControlDatabase;
  readonly #retentionDays: number;
  readonly #cipher: ContentCipher;
  readonly #writer: ResponseWriter;
  readonly #sweeping: NodeJS.Timeout;

  constructor(control: ControlDatabase, { retentionDays, logger, cipher = plainContent, most }: StoredResponseOptions) {
    this.#control = control;
    this.#retentionDays = retentionDays;
    this.#cipher = cipher;
    this.#writer = new ResponseWriter(control, {
      logger,
      most: most ?? { bytes: mostBytes, responses: mostResponses },
    });
    const sweep = (): void => {
      this.removeExpired().catch((error: unknown) => logger.warn({ error }, "expired responses could not be deleted"));
    };
    this.#sweeping = setInterval(sweep, sweepIntervalMs).unref();
  }

  async removeExpired(): Promise<void> {
    await this.#control.write((transaction) =>
      transaction.deleteFrom("responses").where("expires_at", "<=", nowSeconds()).execute(),
    );
  }

  close(): Promise<void> {
    clearInterval(this.#sweeping);
    return Promise.resolve();
  }

  get isEnabled(): boolean {
    return this.#retentionDays > 0;
  }

  /**
   * Replaces a response of the same ID, since upstreams may repeat them.
   * @returns whether it is stored: it may be too large, or the database may fail, for which no answer must be lost
   */
  async add(owner: Owner, response: NewResponse): Promise<boolean> {
    const row = this.#toRow(owner, response);
    if (!this.isEnabled || row.bytes > largestStoredResponse) return false;
    return this.#writer.add({ row, itemIds: itemIds(response.response) });
  }

  #toRow(owner: Owner, { id, engine, previousId, input, response }: NewResponse) {
    const texts = { input: JSON.stringify(input), response: JSON.stringify(response) };
    const now = nowSeconds();
    return {
      id,
      organization_id: owner.organizationId,
      project_name: owner.projectName,
      engine: engine ?? null,
      previous_id: previousId ?? null,
      input: this.#cipher.encrypt(texts.input, placeOf("input", owner, id)),
      response: this.#cipher.encrypt(texts.response, placeOf("response", owner, id)),
      bytes: Buffer.byteLength(texts.input) + Buffer.byteLength(texts.response),
      created_at: now,
      expires_at: now + this.#retentionDays * daySeconds,
    };
  }

  /** Undefined if the project has no such response, or no longer. */
  async find(owner: Owner, id: string): Promise<StoredResponse | undefined> {
    const row = await this.#control.read((database) =>
      database
        .selectFrom("responses")
        .leftJoin("background_responses as background", (join) =>
          join
            .onRef("background.organization_id", "=", "responses.organization_id")
            .onRef("background.project_name", "=", "responses.project_name")
            .onRef("background.id", "=", "responses.id"),
        )
        .select(["responses.id", "engine", "previous_id", "input", "response", "bytes"])
        .select(["status", "is_streamed", "lease_expires_at", "upstream_id"])
        .where("responses.id", "=", id)
        .where("responses.organization_id", "=", owner.organizationId)
        .where("responses.project_name", "=", owner.projectName)
        .where("expires_at", ">", nowSeconds())
        .executeTakeFirst(),
    );
    if (row === undefined) return undefined;
    const kept = JSON.parse(this.#cipher.decrypt(row.response, placeOf("response", owner, id))) as JsonObject;
    const background = toBackgroundState(row);
    const isRunning = background !== undefined && background.status !== "ended";
    const response = isRunning ? { ...kept, status: background.status } : kept;
    return {
      id: row.id,
      engine: row.engine ?? undefined,
      previousId: row.previous_id ?? undefined,
      readInput: () => JSON.parse(this.#cipher.decrypt(row.input, placeOf("input", owner, id))) as JsonObject[],
      response,
      output: outputOf(response),
      bytes: row.bytes,
      background,
    };
  }

  /**
   * The response and those that it continues, the oldest first, as far as no engine has them.
   * @throws AppError invalid_request if one is missing, or if there are too many
   */
  async conversation(owner: Owner, id: string): Promise<StoredResponse[]> {
    const found: StoredResponse[] = [];
    for (let next: string | undefined = id; next !== undefined;) {
      const stored: StoredResponse | undefined = await this.find(owner, next);
      if (stored === undefined) throw unknownResponse(next);
      if (next === id) requireAnswer(stored);
      found.unshift(stored);
      if (stored.engine !== undefined) return found;
      if (found.length > longestConversation) {
        const reason = `it continues more than ${longestConversation} responses`;
        throw new AppError("invalid_request", `previous_response_id is ${JSON.stringify(id)}; ${reason}.`, {
          param: "previous_response_id",
        });
      }
      next = stored.previousId;
    }
    return found;
  }

  /** The responses of the project that have the items, by the items' IDs. */
  async holders(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#control.read((database) =>
      database
        .selectFrom("response_items")
        .innerJoin("responses", (join) =>
          join
            .onRef("responses.organization_id", "=", "response_items.organization_id")
            .onRef("responses.project_name", "=", "response_items.project_name")
            .onRef("responses.id", "=", "response_items.response_id"),
        )
        .select(["response_items.id as id", "responses.id as holder"])
        .where("response_items.id", "in", ids)
        .where("responses.organization_id", "=", owner.organizationId)
        .where("responses.project_name", "=", owner.projectName)
        .where("responses.expires_at", ">", nowSeconds())
        .execute(),
    );
    return new Map(rows.map(({ id, holder }) => [id, holder]));
  }

  /** @returns whether there was one */
  async remove(owner: Owner, id: string): Promise<boolean> {
    return this.#control.write((transaction) => removeResponse(transaction, owner, id));
  }
}

export function unknownResponse(id: string): AppError {
  return new AppError(
    "invalid_request",
    `previous_response_id is ${JSON.stringify(id)}; the project has no such response, or no longer. Responses are kept unless store is false or they are too large.`,
    { param: "previous_response_id", wireCode: "previous_response_not_found" },
  );
}

/** Of an ordinary call, only what has an answer is stored. */
function requireAnswer({ background, id, response }: StoredResponse): void {
  const { status } = response;
  if (background === undefined || status === "completed" || status === "incomplete") return;
  const reason = background.status === "ended" ? "there is nothing to continue" : "wait until it is complete";
  throw new AppError(
    "invalid_request",
    `previous_response_id is ${JSON.stringify(id)}; this response is ${String(status)}, so ${reason}.`,
    { param: "previous_response_id" },
  );
}

interface BackgroundColumns {
  readonly status: BackgroundState["status"] | null;
  readonly is_streamed: number | null;
  readonly lease_expires_at: number | null;
  readonly upstream_id: string | null;
}

function toBackgroundState(row: BackgroundColumns): BackgroundState | undefined {
  if (row.status === null) return undefined;
  return {
    status: row.status,
    isStreamed: row.is_streamed === 1,
    isLost: row.status !== "ended" && (row.lease_expires_at ?? 0) <= nowSeconds(),
    upstreamId: row.upstream_id ?? undefined,
  };
}

function outputOf({ output }: JsonObject): JsonObject[] {
  return Array.isArray(output) ? (output as JsonObject[]) : [];
}

export function itemIds(response: JsonObject): string[] {
  const ids = outputOf(response).map(({ id }) => id);
  const usable = ids.filter((id): id is string => typeof id === "string" && id.length <= 512);
  return [...new Set(usable)].slice(0, mostItems);
}
