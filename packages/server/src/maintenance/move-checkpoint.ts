/**
 * Remembers what of a move is done, in `move.json` of the old data directory, so that an interrupted one continues. The same file
 * keeps servers from databases that are incomplete or were moved (tenancy/move-record.ts).
 */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import type { StoredPartition } from "../store/transfer/store-partitions.ts";
import { nameOf, type TablePart } from "../store/transfer/telemetry-transfer.ts";
import { moveFile, type MoveRecord, readMoveRecord } from "../tenancy/move-record.ts";
import { type MovePlan, namesIn } from "./move-plan.ts";

/** What was read of a partition. */
type Seen = Pick<StoredPartition, "lastBlock" | "mutations">;

interface Verified {
  readonly source: Seen;
  readonly target: Seen;
  readonly rows: number;
  /** When the first row expires, in UNIX seconds. */
  readonly expiresAt: number;
}

interface Copied extends Seen {
  readonly part: TablePart;
  readonly verified?: Verified | undefined;
}

export interface MoveResult {
  /** undefined: not moved. */
  readonly telemetryRows: number | undefined;
  readonly controlRows: number | undefined;
}

interface Content extends MoveRecord {
  readonly partitions?: readonly Copied[];
  /** Whether the control database may have rows of this move. */
  readonly controlBegun?: boolean;
  readonly result?: MoveResult;
}

export class MoveCheckpoint {
  readonly #plan: MovePlan;
  readonly #copied: Map<string, Copied>;
  #controlBegun: boolean;
  /** Whether this move has begun before. */
  readonly isResumed: boolean;
  /** If the move was completed before. */
  readonly result: MoveResult | undefined;

  private constructor(plan: MovePlan, before: Content | undefined) {
    this.#plan = plan;
    this.#copied = new Map(before?.partitions?.map((each) => [nameOf(each.part), each]));
    this.#controlBegun = before?.controlBegun === true;
    this.isResumed = before !== undefined;
    this.result = before?.state === "moved" ? before.result : undefined;
  }

  /** The checkpoint of a move to other databases counts as none. @throws AppError if the databases were moved elsewhere */
  static async open(plan: MovePlan): Promise<MoveCheckpoint> {
    const before: Content | undefined = await readMoveRecord(plan.fromDirectory);
    return new MoveCheckpoint(plan, before !== undefined && isOf(before, plan) ? before : undefined);
  }

  copied(part: TablePart): Copied | undefined {
    return this.#copied.get(nameOf(part));
  }

  parts(): TablePart[] {
    return [...this.#copied.values()].map(({ part }) => part);
  }

  /** Of verified partitions. */
  get rows(): number {
    return [...this.#copied.values()].reduce((sum, { verified }) => sum + (verified?.rows ?? 0), 0);
  }

  get hasCopies(): boolean {
    return this.#copied.size > 0;
  }

  get controlBegun(): boolean {
    return this.#controlBegun;
  }

  /** Before anything is written: no server may use the target until the move is complete. */
  async begin(): Promise<void> {
    await this.#write("copying");
    const { fromDirectory, toDirectory } = this.#plan;
    if (toDirectory !== fromDirectory)
      await writeRecord(toDirectory, { state: "copying", ...namesIn(this.#plan, toDirectory) });
  }

  async setCopied({ lastBlock, mutations, part }: StoredPartition): Promise<void> {
    this.#copied.set(nameOf(part), { part, lastBlock, mutations });
    await this.#write("copying");
  }

  async setVerified(part: TablePart, { source, target, ...verified }: Verified): Promise<void> {
    const seen = ({ lastBlock, mutations }: Seen): Seen => ({ lastBlock, mutations });
    this.#copied.set(nameOf(part), {
      part,
      ...seen(source),
      verified: { ...verified, source: seen(source), target: seen(target) },
    });
    await this.#write("copying");
  }

  async forget(part: TablePart): Promise<void> {
    this.#copied.delete(nameOf(part));
    await this.#write("copying");
  }

  /** Everything is copied again. */
  async forgetAll(): Promise<void> {
    this.#copied.clear();
    await this.#write("copying");
  }

  async beginControl(): Promise<void> {
    this.#controlBegun = true;
    await this.#write("copying");
  }

  /** From now on, no server uses the old databases. */
  async complete(result: MoveResult): Promise<void> {
    await this.#write("moved", result);
    await this.cleanUp();
  }

  /** Lets servers use the target's data directory. */
  async cleanUp(): Promise<void> {
    const { fromDirectory, toDirectory } = this.#plan;
    if (toDirectory !== fromDirectory) await rm(join(toDirectory, moveFile), { force: true });
  }

  async #write(state: MoveRecord["state"], result?: MoveResult): Promise<void> {
    const progress = { partitions: [...this.#copied.values()], controlBegun: this.#controlBegun };
    const content: Content = {
      state,
      ...this.#plan.names,
      ...(result === undefined ? progress : { result, moved_at: new Date().toISOString() }),
    };
    await writeRecord(this.#plan.fromDirectory, content);
  }
}

function isOf(record: MoveRecord, { names }: MovePlan): boolean {
  return (["from", "to"] as const).every(
    (side) => record[side].control === names[side].control && record[side].telemetry === names[side].telemetry,
  );
}

async function writeRecord(directory: string, content: Content): Promise<void> {
  const path = join(directory, moveFile);
  try {
    await writeFile(`${path}.part`, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true });
    await rename(`${path}.part`, path);
  } catch (error) {
    throw new AppError("internal", `${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
