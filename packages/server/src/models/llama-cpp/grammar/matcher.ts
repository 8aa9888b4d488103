/**
 * Follows a text through a grammar, byte by byte: which bytes may come next, and whether the text may end here.
 * A state is a set of places in the grammar with what comes after each. Places and states never change, so trying a
 * token costs no copy, and trying is all that sampling needs.
 */
import type { Grammar } from "./grammar.ts";

/** A grammar to be matched, then the rest. */
interface Frame {
  readonly node: Grammar;
  readonly next: Frame | undefined;
}

type ByteFrame = Frame & { readonly node: { readonly kind: "byte"; readonly allowed: Uint8Array } };

export interface MatcherState {
  readonly places: readonly ByteFrame[];
  /** Whether the text may end here. */
  readonly complete: boolean;
}

export interface Matcher {
  readonly start: MatcherState;
  /** The state after the bytes; undefined if the grammar does not allow them. */
  advance(state: MatcherState, bytes: Uint8Array): MatcherState | undefined;
}

/** Makes frames and repetitions unique, so that equal places are the same object and a state stays small. */
class Frames {
  private readonly byNode = new Map<Grammar, Map<Frame | undefined, Frame>>();
  private readonly rests = new Map<Grammar, Grammar>();

  frame(node: Grammar, next: Frame | undefined): Frame {
    let byNext = this.byNode.get(node);
    if (byNext === undefined) this.byNode.set(node, (byNext = new Map()));
    let frame = byNext.get(next);
    if (frame === undefined) byNext.set(next, (frame = { node, next }));
    return frame;
  }

  /** What a repetition is after its item was matched once. */
  rest(node: Grammar & { kind: "repeat" }): Grammar {
    if (node.minimum === 0 && node.maximum === Infinity) return node;
    let rest = this.rests.get(node);
    if (rest === undefined) {
      rest = { ...node, minimum: Math.max(0, node.minimum - 1), maximum: node.maximum - 1 };
      this.rests.set(node, rest);
    }
    return rest;
  }
}

interface Expansion {
  readonly places: Set<ByteFrame>;
  readonly visited: Set<Frame>;
  complete: boolean;
}

function isByteFrame(frame: Frame): frame is ByteFrame {
  return frame.node.kind === "byte";
}

/** Collects the places where the next byte is decided. */
function expand(frames: Frames, frame: Frame | undefined, into: Expansion): void {
  if (frame === undefined) {
    into.complete = true;
    return;
  }
  if (into.visited.has(frame)) return;
  into.visited.add(frame);
  if (isByteFrame(frame)) {
    into.places.add(frame);
    return;
  }
  const { node, next } = frame;
  switch (node.kind) {
    case "sequence": {
      const rest = node.items.reduceRight((after: Frame | undefined, item) => frames.frame(item, after), next);
      expand(frames, rest, into);
      return;
    }
    case "choice":
      for (const item of node.items) expand(frames, frames.frame(item, next), into);
      return;
    case "repeat":
      if (node.minimum === 0) expand(frames, next, into);
      if (node.maximum > 0) expand(frames, frames.frame(node.item, frames.frame(frames.rest(node), next)), into);
      return;
    case "reference":
      expand(frames, frames.frame(node.resolve(), next), into);
      return;
    case "byte":
      return;
  }
}

/** A matcher for one text. Keep it no longer than the text: it remembers the places that it met. */
export function createMatcher(grammar: Grammar): Matcher {
  const frames = new Frames();
  const stateOf = (heads: readonly (Frame | undefined)[]): MatcherState => {
    const expansion: Expansion = { places: new Set(), visited: new Set(), complete: false };
    for (const head of heads) expand(frames, head, expansion);
    return { places: [...expansion.places], complete: expansion.complete };
  };
  return {
    start: stateOf([frames.frame(grammar, undefined)]),
    advance(state, bytes) {
      let current = state;
      for (const byte of bytes) {
        const taken = current.places.filter(({ node }) => node.allowed[byte] === 1);
        if (taken.length === 0) return undefined;
        current = stateOf(taken.map(({ next }) => next));
      }
      return current;
    },
  };
}
