/**
 * The content blocks of a streamed message. They never overlap, as the Messages API demands, although the pieces of parallel
 * tool calls may arrive in turns: a block that has begun waits until the one before it is complete.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { JsonObject } from "../json-object.ts";

const mostWaiting = inputLimit({
  area: "Chat completions",
  bounds: "Text of one response that waits in a stream of the Messages API until an earlier tool call is complete",
  value: 8_388_608,
  unit: "characters",
  error: "upstream_failed",
});

export interface MessageBlock {
  readonly index: number;
  /** As `content_block_start` has it. */
  readonly start: JsonObject;
  readonly waiting: JsonObject[];
  isEnded: boolean;
}

export type Emit = (event: JsonObject & { readonly type: string }) => void;

export class MessageBlocks {
  readonly #emit: Emit;
  /** The open block, and those that wait for it. */
  readonly #blocks: MessageBlock[] = [];
  #count = 0;
  #waiting = 0;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  begin(start: JsonObject): MessageBlock {
    const block = { index: this.#count++, start, waiting: [], isEnded: false };
    this.#blocks.push(block);
    if (this.#blocks.length === 1) this.#open(block);
    return block;
  }

  /** @param length of the delta's text */
  add(block: MessageBlock, delta: JsonObject, length: number): void {
    if (block.isEnded)
      throw new AppError("upstream_failed", "The engine continued a part of its response after its end.");
    if (this.#blocks[0] === block) {
      this.#emit({ type: "content_block_delta", index: block.index, delta });
      return;
    }
    this.#waiting += length;
    if (this.#waiting > mostWaiting) throw new AppError("upstream_failed", "The engine's tool calls are too long.");
    block.waiting.push(delta);
  }

  end(block: MessageBlock): void {
    block.isEnded = true;
    while (this.#blocks[0]?.isEnded === true) {
      this.#emit({ type: "content_block_stop", index: this.#blocks.shift()!.index });
      const next = this.#blocks[0];
      if (next !== undefined) this.#open(next);
    }
  }

  endAll(): void {
    for (let [block] = this.#blocks; block !== undefined; [block] = this.#blocks) this.end(block);
  }

  #open({ index, start, waiting }: MessageBlock): void {
    this.#emit({ type: "content_block_start", index, content_block: start });
    for (const delta of waiting.splice(0)) this.#emit({ type: "content_block_delta", index, delta });
  }
}
