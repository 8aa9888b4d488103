/**
 * Assigns prompts to the sequences of a model's context. A sequence keeps its last tokens, and a prompt gets the idle
 * sequence with the longest common prefix. Queued organizations take turns.
 */
import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp";
import { onAbort } from "../../../abort.ts";
import { RoundRobinQueue } from "../../../scheduling/round-robin-queue.ts";

/** How a prompt is queued. */
interface Turn {
  /** Groups take turns; see `fairnessKey` of a call. */
  readonly group: string;
  readonly signal: AbortSignal;
}

export interface SequencePool {
  /** Waits for an idle sequence. Rejects with the signal's reason when it is aborted. */
  acquire(prompt: Token[], turn: Turn): Promise<LlamaContextSequence>;
  release(sequence: LlamaContextSequence): void;
}

interface Waiting {
  readonly prompt: Token[];
  readonly start: (sequence: LlamaContextSequence) => void;
}

export function createSequencePool(context: Pick<LlamaContext, "totalSequences" | "getSequence">): SequencePool {
  const idle = Array.from({ length: context.totalSequences }, () => context.getSequence());
  const waiting = new RoundRobinQueue<Waiting>();
  const holders = new Map<LlamaContextSequence, string>();

  const take = (prompt: Token[], group: string): LlamaContextSequence => {
    const scores = idle.map((sequence) => sequence.compareContextTokens(prompt).firstDifferentIndex);
    const sequence = idle.splice(scores.indexOf(Math.max(...scores)), 1)[0]!;
    holders.set(sequence, group);
    return sequence;
  };
  const heldBy = (group: string): number => [...holders.values()].filter((each) => each === group).length;

  return {
    async acquire(prompt, { group, signal }) {
      signal.throwIfAborted();
      if (idle.length > 0) return take(prompt, group);
      const { promise, resolve, reject } = Promise.withResolvers<LlamaContextSequence>();
      const entry: Waiting = { prompt, start: resolve };
      waiting.push(group, entry);
      using _listener = onAbort(signal, () => {
        if (waiting.remove(group, entry)) reject(signal.reason as Error);
      });
      return await promise;
    },
    release(sequence) {
      idle.push(sequence);
      holders.delete(sequence);
      const next = waiting.next(heldBy);
      if (next !== undefined) next.item.start(take(next.item.prompt, next.group));
    },
  };
}
