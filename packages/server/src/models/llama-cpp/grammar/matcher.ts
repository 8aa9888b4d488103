/**
 * Follows a text through a grammar, byte by byte: which bytes may come next, and whether the text may end here.
 * A state is a set of places in the grammar with what comes after each. Places and states never change, so trying a
 * token costs no copy, and trying is all that sampling needs.
 */
import { nothing, sequence, type Grammar } from "./grammar.ts";

/** A grammar to be matched, then the rest. */
interface Frame {
  readonly node: Grammar;
  readonly next: Frame | undefined;
}

/** A byte that a grammar may begin with, and what of the grammar follows it. */
interface Head {
  readonly allowed: Uint8Array;
  readonly rest: Grammar;
}

interface Place {
  readonly head: Head;
  readonly next: Frame | undefined;
}

export interface MatcherState {
  readonly places: readonly Place[];
  /** Whether the text may end here. */
  readonly complete: boolean;
}

export interface Matcher {
  readonly start: MatcherState;
  /** The state after the bytes; undefined if the grammar does not allow them. */
  advance(state: MatcherState, bytes: Uint8Array): MatcherState | undefined;
}

/** The heads of a grammar without repetition and reference, and whether it may be empty. */
interface Beginning {
  readonly heads: readonly Head[];
  readonly nullable: boolean;
}

/** Grammars are constants or live as long as their call, so what was found out about one is kept with it. */
const beginnings = new WeakMap<Grammar, Beginning | "composed">();

function sequenceBeginning(items: readonly Grammar[]): Beginning | "composed" {
  const heads: Head[] = [];
  for (const [index, item] of items.entries()) {
    const beginning = beginningOf(item);
    if (beginning === "composed") return beginning;
    const after = items.slice(index + 1);
    heads.push(
      ...beginning.heads.map(({ allowed, rest }) => ({
        allowed,
        rest: after.length === 0 ? rest : sequence(rest, ...after),
      })),
    );
    if (!beginning.nullable) return { heads, nullable: false };
  }
  return { heads, nullable: true };
}

function choiceBeginning(items: readonly Grammar[]): Beginning | "composed" {
  const beginningsOfItems = items.map(beginningOf);
  if (beginningsOfItems.includes("composed")) return "composed";
  const found = beginningsOfItems as Beginning[];
  return { heads: found.flatMap(({ heads }) => heads), nullable: found.some(({ nullable }) => nullable) };
}

function findBeginning(node: Grammar): Beginning | "composed" {
  if (node.kind === "byte") return { heads: [{ allowed: node.allowed, rest: nothing }], nullable: false };
  if (node.kind === "sequence") return sequenceBeginning(node.items);
  if (node.kind === "choice") return choiceBeginning(node.items);
  return "composed";
}

function beginningOf(node: Grammar): Beginning | "composed" {
  let beginning = beginnings.get(node);
  if (beginning === undefined) beginnings.set(node, (beginning = findBeginning(node)));
  return beginning;
}

/** Makes frames and repetitions unique, so that equal places come from the same frame and a state stays small. */
class Frames {
  private readonly byNode = new Map<Grammar, Map<Frame | undefined, Frame>>();
  private readonly rests = new Map<Grammar, Grammar>();

  frame(node: Grammar, next: Frame | undefined): Frame | undefined {
    if (node === nothing) return next;
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
  readonly places: Place[];
  readonly visited: Set<Frame>;
  complete: boolean;
}

/** Expands a grammar that has repetitions or references in it. */
function expandComposed(frames: Frames, { node, next }: Frame, into: Expansion): void {
  if (node.kind === "sequence") {
    expand(
      frames,
      node.items.reduceRight((after: Frame | undefined, item) => frames.frame(item, after), next),
      into,
    );
  } else if (node.kind === "choice") {
    for (const item of node.items) expand(frames, frames.frame(item, next), into);
  } else if (node.kind === "repeat") {
    if (node.minimum === 0) expand(frames, next, into);
    if (node.maximum > 0) expand(frames, frames.frame(node.item, frames.frame(frames.rest(node), next)), into);
  } else if (node.kind === "reference") {
    expand(frames, frames.frame(node.resolve(), next), into);
  }
}

/** Collects the places where the next byte is decided. */
function expand(frames: Frames, frame: Frame | undefined, into: Expansion): void {
  if (frame === undefined) {
    into.complete = true;
    return;
  }
  if (into.visited.has(frame)) return;
  into.visited.add(frame);
  const beginning = beginningOf(frame.node);
  if (beginning === "composed") {
    expandComposed(frames, frame, into);
    return;
  }
  for (const head of beginning.heads) into.places.push({ head, next: frame.next });
  if (beginning.nullable) expand(frames, frame.next, into);
}

/** A matcher for one text. Keep it no longer than the text: it remembers the places that it met. */
export function createMatcher(grammar: Grammar): Matcher {
  const frames = new Frames();
  const stateOf = (heads: readonly (Frame | undefined)[]): MatcherState => {
    const expansion: Expansion = { places: [], visited: new Set(), complete: false };
    for (const head of heads) expand(frames, head, expansion);
    return { places: expansion.places, complete: expansion.complete };
  };
  return {
    start: stateOf([frames.frame(grammar, undefined)]),
    advance(state, bytes) {
      let current = state;
      for (const byte of bytes) {
        const taken = current.places.filter(({ head }) => head.allowed[byte] === 1);
        if (taken.length === 0) return undefined;
        current = stateOf(taken.map(({ head, next }) => frames.frame(head.rest, next)));
      }
      return current;
    },
  };
}
