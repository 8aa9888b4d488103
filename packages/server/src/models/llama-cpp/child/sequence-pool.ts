/**
 * The places in a model's context where answers grow, side by side. Each keeps what it evaluated last, and a prompt is
 * given to the idle place that has most of its beginning already.
 */
import type { LlamaContext, LlamaContextSequence, Token } from "node-llama-cpp";

export interface SequencePool {
  /** Waits for an idle sequence, in the order of asking. Rejects with the signal's reason when it is aborted. */
  acquire(prompt: Token[], signal: AbortSignal): Promise<LlamaContextSequence>;
  release(sequence: LlamaContextSequence): void;
}

interface Waiting {
  readonly prompt: Token[];
  readonly start: (sequence: LlamaContextSequence) => void;
}

export function createSequencePool(context: LlamaContext): SequencePool {
  const idle = Array.from({ length: context.totalSequences }, () => context.getSequence());
  const waiting: Waiting[] = [];

  const take = (prompt: Token[]): LlamaContextSequence => {
    const scores = idle.map((sequence) => sequence.compareContextTokens(prompt).firstDifferentIndex);
    return idle.splice(scores.indexOf(Math.max(...scores)), 1)[0]!;
  };

  return {
    async acquire(prompt, signal) {
      signal.throwIfAborted();
      if (idle.length > 0) return take(prompt);
      const { promise, resolve, reject } = Promise.withResolvers<LlamaContextSequence>();
      const entry: Waiting = { prompt, start: resolve };
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason as Error);
      };
      waiting.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
      return promise.finally(() => signal.removeEventListener("abort", onAbort));
    },
    release(sequence) {
      idle.push(sequence);
      const next = waiting.shift();
      if (next !== undefined) next.start(take(next.prompt));
    },
  };
}
