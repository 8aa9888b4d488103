/**
 * Decodes tokens into text that can be sent: no partial characters, and nothing that could still become a stop sequence.
 * Each piece carries the log probabilities of its tokens.
 */
import type { TokenLogprob } from "../protocol.ts";

export interface TextPiece {
  readonly text: string;
  readonly logprobs: TokenLogprob[];
}

export interface TextStep extends TextPiece {
  /** The stop sequence that was reached, with the text after it. */
  readonly stopped?: { readonly by: string; readonly rest: string };
}

export interface TextOutput {
  push(bytes: Uint8Array, logprob?: TokenLogprob): TextStep;
  /** Releases withheld text at the end, without the bytes of an incomplete character. */
  end(): TextPiece;
}

/** Length of the longest end of `text` that begins one of the sequences. */
function heldLength(text: string, sequences: readonly string[]): number {
  let longest = 0;
  for (const sequence of sequences) {
    for (let length = Math.min(sequence.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(sequence.slice(0, length))) longest = length;
    }
  }
  return longest;
}

function firstMatch(text: string, sequences: readonly string[]): { index: number; by: string } | undefined {
  let best: { index: number; by: string } | undefined;
  for (const by of sequences) {
    const index = text.indexOf(by);
    if (index !== -1 && (best === undefined || index < best.index)) best = { index, by };
  }
  return best;
}

/** Whether a match counts: the opening only behind nothing but white space. */
function counts(text: string, match: { index: number; by: string } | undefined, opening: string | undefined): boolean {
  return match === undefined || match.by !== opening || text.slice(0, match.index).trim() === "";
}

/**
 * Output that ends at a stop sequence, or at the opening if it comes first of all. Sequences are not empty.
 */
export function createTextOutput(stopSequences: readonly string[], opening?: string): TextOutput {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let pending = "";
  let begun = false;
  /** Tokens not yet sent, with where they start in `pending`. */
  let tokens: { start: number; logprob: TokenLogprob }[] = [];

  const release = (length: number): TextPiece => {
    const text = pending.slice(0, length);
    const sent = length === 0 ? [] : tokens.filter(({ start }) => start < length);
    tokens = tokens.slice(sent.length).map(({ start, logprob }) => ({ start: start - length, logprob }));
    pending = pending.slice(length);
    begun ||= text.trim() !== "";
    return { text, logprobs: sent.map(({ logprob }) => logprob) };
  };

  const find = (): { index: number; by: string } | undefined => {
    const sequences = begun || opening === undefined ? stopSequences : [...stopSequences, opening];
    const match = firstMatch(pending, sequences);
    return counts(pending, match, opening) ? match : firstMatch(pending, stopSequences);
  };

  return {
    push(bytes, logprob) {
      if (logprob !== undefined) tokens.push({ start: pending.length, logprob });
      pending += decoder.decode(bytes, { stream: true });
      const match = find();
      if (match === undefined) {
        const held = heldLength(pending, begun || opening === undefined ? stopSequences : [...stopSequences, opening]);
        return release(pending.length - held);
      }
      const rest = pending.slice(match.index + match.by.length);
      const piece = release(match.index);
      pending = "";
      tokens = [];
      return { ...piece, stopped: { by: match.by, rest } };
    },
    end: () => release(pending.length),
  };
}
