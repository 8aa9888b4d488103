/** Compares the telemetry of two stores by table, day and organization, and copies again what differs. docs/adr/0042-deletion-backup-and-move.md */
import { sleep } from "../abort.ts";
import { AppError } from "../errors.ts";
import type { StoredPartition } from "../store/transfer/store-partitions.ts";
import { nameOf, tablesInOrder, type TablePart } from "../store/transfer/telemetry-transfer.ts";
import type { MoveCheckpoint } from "./move-checkpoint.ts";
import { copyAgain, type TelemetryMove } from "./move-telemetry.ts";

/** Rows that expire during the comparison may be gone on one side only. */
const expiryMarginSeconds = 3600;
/** How long replicas of a cluster may lack rows. */
const replicationTimeoutMs = 60_000;
const pauseMs = 1000;
/** How often the source may change during a comparison, for example because a deletion goes on. */
const maximumChanges = 20;

type Partitions = ReadonlyMap<string, StoredPartition>;
type Seen = Pick<StoredPartition, "lastBlock" | "mutations">;

const isSame = (left: Seen | undefined, right: Seen | undefined): boolean =>
  left?.lastBlock === right?.lastBlock && left?.mutations === right?.mutations;

async function partitionsOf(store: TelemetryMove["source"], signal: AbortSignal): Promise<Partitions> {
  return new Map((await store.partitions.list(signal)).map((each) => [nameOf(each.part), each]));
}

/**
 * Compares the stores. While the server runs, only what is not being written; once it is stopped, everything that has changed on
 * either side since it was compared.
 * @throws AppError internal if a part that was copied again still differs
 */
export async function compareTelemetry(
  move: TelemetryMove,
  { isServed }: { readonly isServed: boolean },
): Promise<void> {
  const { checkpoint, onProgress, signal } = move;
  const source = await partitionsOf(move.source, signal);
  const target = await partitionsOf(move.target, signal);
  const parts = [...new Map([...source, ...target]).values()]
    .map(({ part }) => part)
    .filter((part) => {
      const name = nameOf(part);
      if (isServed && !isSame(checkpoint.copied(part), source.get(name))) return false;
      return !isCompared({ checkpoint, part, source: source.get(name), target: target.get(name) });
    })
    .toSorted((left, right) => tablesInOrder.indexOf(left.table) - tablesInOrder.indexOf(right.table));
  const rowsOf = (part: TablePart): number => source.get(nameOf(part))?.rows ?? 0;
  const totalRows = parts.reduce((sum, part) => sum + rowsOf(part), 0);
  let doneRows = 0;
  for (const part of parts) {
    onProgress({ part: `comparing ${nameOf(part)}`, doneRows, totalRows });
    await comparePart(move, part, isServed);
    doneRows += rowsOf(part);
  }
}

interface PartStates {
  readonly checkpoint: MoveCheckpoint;
  readonly part: TablePart;
  readonly source: StoredPartition | undefined;
  readonly target: StoredPartition | undefined;
}

/** Whether neither side has changed since they were the same. Expiry can free the numbers of blocks for new ones. */
function isCompared({ checkpoint, part, source, target }: PartStates): boolean {
  const verified = checkpoint.copied(part)?.verified;
  if (verified === undefined || Date.now() / 1000 >= verified.expiresAt) return false;
  return isSame(verified.source, source) && isSame(verified.target, target);
}

async function comparePart(move: TelemetryMove, part: TablePart, isServed: boolean): Promise<void> {
  const { checkpoint, signal, source, target } = move;
  const stateOf = async ({ partitions }: TelemetryMove["source"]): Promise<StoredPartition | undefined> =>
    (await partitions.list(signal, part))[0];
  let isCopiedAgain = false;
  for (let changes = 0; changes < maximumChanges;) {
    signal.throwIfAborted();
    const before = await stateOf(source);
    if (isServed && !isSame(checkpoint.copied(part), before)) return;
    const targetBefore = await stateOf(target);
    const { difference, rows } = await untilSame(move, part);
    const after = await stateOf(source);
    if (!isSame(before, after)) {
      if (isServed) return;
      changes += 1;
      await sleep(pauseMs, signal);
      continue;
    }
    if (difference === undefined) {
      if (before === undefined || targetBefore === undefined) return;
      // On a cluster, the numbers of blocks say nothing.
      const expiresAt = target.partitions.isCluster ? 0 : Math.min(before.expiresAt, targetBefore.expiresAt);
      return await checkpoint.setVerified(part, { source: before, target: targetBefore, rows, expiresAt });
    }
    if (isCopiedAgain)
      throw new AppError(
        "internal",
        `${difference} They were copied twice. Nothing was removed from the source; run the command again.`,
      );
    isCopiedAgain = true;
    await copyAgain(move, part, before);
  }
  throw new AppError(
    "internal",
    `The source changes while ${nameOf(part)} is compared, although its server is stopped.`,
  );
}

interface Compared {
  /** A sentence; undefined: none. */
  readonly difference: string | undefined;
  /** Of the source. */
  readonly rows: number;
}

async function untilSame(move: TelemetryMove, part: TablePart): Promise<Compared> {
  const endMs = performance.now() + (move.target.partitions.isCluster ? replicationTimeoutMs : 0);
  for (;;) {
    const compared = await compareOnce(move, part);
    if (compared.difference === undefined || performance.now() >= endMs) return compared;
    await sleep(pauseMs, move.signal);
  }
}

async function compareOnce({ signal, source, target }: TelemetryMove, part: TablePart): Promise<Compared> {
  const expireAfter = Math.floor(Date.now() / 1000) + expiryMarginSeconds;
  const [left, right] = await Promise.all(
    [source, target].map(({ partitions }) => partitions.fingerprint(part, expireAfter, signal)),
  );
  const rows = [...left!.values()].reduce((sum, each) => sum + each.rows, 0);
  for (const organization of new Set([...left!.keys(), ...right!.keys()])) {
    const [old, copy] = [left!.get(organization), right!.get(organization)];
    if (old?.rows === copy?.rows && old?.checksum === copy?.checksum) continue;
    const values = old?.rows === copy?.rows ? ", with other values" : "";
    return {
      difference: `The target has ${copy?.rows ?? 0} rows of ${nameOf(part)} of the organization ${organization}${values}, and the source has ${old?.rows ?? 0}.`,
      rows,
    };
  }
  return { difference: undefined, rows };
}
