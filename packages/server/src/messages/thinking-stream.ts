/** Turns the reasoning of a stream into thinking blocks, each with its signature at its end. */
import { isNone, keepBesideText, reasoningOf } from "../chat/kept-reasoning.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { JsonObject } from "../json-object.ts";
import { toHiddenSignature, toOwnBlock } from "./kept-reasoning.ts";
import type { MessageBlock, MessageBlocks } from "./message-blocks.ts";

const longestReasoning = inputLimit({
  area: "Chat completions",
  bounds: "Reasoning in one streamed response of the Messages API",
  value: 16_777_216,
  unit: "characters",
  error: "upstream_failed",
});

export class ThinkingStream {
  readonly #blocks: MessageBlocks;
  #block: MessageBlock | undefined;
  /** Of the open block. */
  #text = "";
  #details: JsonObject[] = [];
  #length = 0;

  readonly #isHidden: boolean;

  /** @param isHidden whether the client wants no text */
  constructor(blocks: MessageBlocks, isHidden: boolean) {
    this.#blocks = blocks;
    this.#isHidden = isHidden;
  }

  /** @returns whether the delta has any reasoning */
  add(delta: JsonObject): boolean {
    const reasoning = reasoningOf(delta);
    if (reasoning.text !== "") this.#addText(reasoning.text);
    for (const detail of reasoning.details) this.#addDetail(detail);
    return !isNone(reasoning);
  }

  /** Something else follows. */
  end(): void {
    if (this.#block === undefined) return;
    const reasoning = { text: this.#text, details: this.#details };
    this.#sign((this.#isHidden ? toHiddenSignature : keepBesideText)(reasoning));
  }

  #addText(thinking: string): void {
    this.#keep(thinking.length);
    this.#text += thinking;
    const block = this.#open();
    if (!this.#isHidden) this.#blocks.add(block, { type: "thinking_delta", thinking }, thinking.length);
  }

  #addDetail(detail: JsonObject): void {
    const own = this.#isHidden ? undefined : toOwnBlock(detail);
    if (own === undefined) {
      this.#keep(JSON.stringify(detail).length);
      mergeDetail(this.#details, detail);
      this.#open();
      return;
    }
    if (own.type === "redacted_thinking") {
      this.end();
      this.#blocks.end(this.#blocks.begin({ ...own }));
      return;
    }
    // It comes with the whole text of its block once more.
    if (this.#text === "" && own.thinking !== "") this.#addText(own.thinking);
    this.#open();
    this.#sign(own.signature);
  }

  #open(): MessageBlock {
    return (this.#block ??= this.#blocks.begin({ type: "thinking", thinking: "", signature: "" }));
  }

  #sign(signature: string): void {
    const block = this.#open();
    this.#blocks.add(block, { type: "signature_delta", signature }, signature.length);
    this.#blocks.end(block);
    this.#block = undefined;
    this.#text = "";
    this.#details = [];
  }

  #keep(length: number): void {
    this.#length += length;
    if (this.#length > longestReasoning) throw new AppError("upstream_failed", "The engine's reasoning is too long.");
  }
}

/** Pieces of one detail have the same type, format and index; their texts are joined. */
function mergeDetail(details: JsonObject[], piece: JsonObject): void {
  const last = details.at(-1);
  const continues =
    last !== undefined &&
    ["type", "format", "index"].every((name) => last[name] === piece[name]) &&
    piece["type"] !== undefined;
  if (!continues || piece["index"] === undefined) {
    details.push({ ...piece });
    return;
  }
  for (const [name, value] of Object.entries(piece)) {
    const known = last[name];
    const isText = name === "text" || name === "summary" || name === "data";
    last[name] = isText && typeof known === "string" && typeof value === "string" ? known + value : (value ?? known);
  }
}
