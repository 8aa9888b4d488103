/** Limits the redactions in one text or prompt; beyond the limit the rest is redacted as a whole. */
import { inputLimit } from "../input-limits.ts";

/** Each costs a search, which may read ahead as far as the longest match. */
const maxRedactions = inputLimit({
  area: "Chat completions",
  bounds: "Matches that one guardrail redacts in one prompt or in one text of a response",
  value: 100_000,
  error: { instead: "the rest of the text is redacted" },
});

export class RedactionCount {
  #count = 0;

  get isOverLimit(): boolean {
    return this.#count > maxRedactions;
  }

  add(): void {
    this.#count += 1;
  }
}
