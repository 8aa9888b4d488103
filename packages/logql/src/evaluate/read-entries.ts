/** Reads entries from the store and sends each through a pipeline. */
import type { Pipeline, PipelineOutput } from "../pipeline/pipeline.ts";
import type { EntriesRequest, EntryBatch } from "../storage.ts";
import type { EvaluationContext } from "./evaluation-context.ts";

/** The cost of reading an entry and of running its pipeline, in samples of the budget. */
const workOfEntry = 32;
const charactersPerWork = 16;

export interface ReadOptions {
  readonly request: Omit<EntriesRequest, "signal" | "yieldBudget" | "charge">;
  readonly pipeline: Pipeline;
  /** Whether to look at entries of this time at all. */
  readonly isWanted?: ((unixNano: bigint) => boolean) | undefined;
  /** Called for each entry that passes the pipeline; true ends the reading. */
  readonly visit: (output: PipelineOutput, entry: { readonly unixNano: bigint; readonly lineBytes: number }) => boolean;
}

/** Calls back for the entries that pass the pipeline, in the order of the request. */
export async function readEntries(options: ReadOptions, context: EvaluationContext): Promise<void> {
  const { budget, read, signal, storage } = context;
  budget.check();
  let charged = 0;
  const charge = (bytes: number): void => {
    budget.holdBytes(bytes);
    charged += bytes;
  };
  const request: EntriesRequest = { ...options.request, signal, yieldBudget: budget, charge };
  try {
    let chargedBefore = 0;
    for await (const batch of storage.entries(request)) {
      budget.check();
      signal.throwIfAborted();
      // The previous batch is free now; the store may have charged parts of the next one already.
      budget.releaseBytes(chargedBefore);
      charged -= chargedBefore;
      chargedBefore = charged;
      read.add(batch.count, sumOf(batch.lineBytes));
      if (await visitBatch(batch, options, context)) return;
    }
  } finally {
    budget.releaseBytes(charged);
  }
}

function sumOf(bytes: Uint32Array): number {
  let sum = 0;
  for (const one of bytes) sum += one;
  return sum;
}

async function visitBatch(
  batch: EntryBatch,
  { isWanted, pipeline, visit }: ReadOptions,
  { budget }: EvaluationContext,
): Promise<boolean> {
  for (let index = 0; index < batch.count; index++) {
    const unixNano = batch.unixNanos[index]!;
    const line = batch.lines[index]!;
    if (budget.spend(workOfEntry + line.length / charactersPerWork)) await budget.yield();
    if (isWanted !== undefined && !isWanted(unixNano)) continue;
    const processed = pipeline.process(
      {
        unixNano,
        line,
        stream: batch.streams[batch.streamIndexes[index]!]!,
        structuredMetadata: batch.structuredMetadata[index]!,
      },
      budget,
    );
    const output = processed instanceof Promise ? await processed : processed;
    if (output === null) continue;
    const lineBytes = output.line === line ? batch.lineBytes[index]! : Buffer.byteLength(output.line);
    if (visit(output, { unixNano, lineBytes })) return true;
  }
  return false;
}
