/**
 * Matches a text against a grammar byte by byte: which bytes may come next, and whether the text may end here.
 * A state is a set of grammar positions, each with its continuation. States are immutable, so trying a token, which is all
 * that sampling needs, copies nothing. A caller's grammar may be too ambiguous to follow: the steps per token are limited.
 */
import { inputLimit } from "../../../input-limits.ts";
import { nothing, sequence, type Grammar } from "./grammar.ts";

/** Steps for one token take some 20 ms at most; all other answers of the model wait meanwhile. */
const maximumSteps = inputLimit({
  area: "Chat completions",
  bounds: "Grammar steps, of a schema or tools, for one generated token, for llama.cpp models",
  value: 200_000,
  error: "invalid_request",
});
/** Memory of one answer's places, some 150 bytes each. */
const maximumFrames = 1_000_000;
/** A longer list of beginnings is not collected beforehand but looked up where the text is. */
const longestBeginning = 256;

/** The grammar is too ambiguous or too large to be followed. */
export class GrammarStepsError extends Error {
  override readonly name = "GrammarStepsError";

  constructor(problem: string) {
    super(`matching the grammar needs more than ${problem}`);
  }
}

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
  /** States after a byte that were computed already: tokens share their beginnings. */
  readonly after: Map<number, MatcherState | undefined>;
}

export interface Matcher {
  readonly start: MatcherState;
  /**
   * The state after the bytes; undefined if the grammar does not allow them.
   * @throws GrammarStepsError if it needs more steps than remain since `renew`
   */
  advance(state: MatcherState, bytes: Uint8Array): MatcherState | undefined;
  /** Allows the steps of another token. */
  renew(): void;
}

/** The heads of a grammar without repetition and reference, and whether it may be empty. */
interface Beginning {
  readonly heads: readonly Head[];
  readonly nullable: boolean;
}

/** Grammars are constants or live as long as their call, so derived data is cached with each grammar. */
const beginnings = new WeakMap<Grammar, Beginning | "composed">();

function sequenceBeginning(items: readonly Grammar[]): Beginning | "composed" {
  if (items.length > longestBeginning) return "composed";
  const heads: Head[] = [];
  for (const [index, item] of items.entries()) {
    const beginning = beginningOf(item);
    if (beginning === "composed" || heads.length + beginning.heads.length > longestBeginning) return "composed";
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
  const heads: Head[] = [];
  let nullable = false;
  for (const item of items) {
    const beginning = beginningOf(item);
    if (beginning === "composed" || heads.length + beginning.heads.length > longestBeginning) return "composed";
    heads.push(...beginning.heads);
    nullable ||= beginning.nullable;
  }
  return { heads, nullable };
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
  private count = 0;

  frame(node: Grammar, next: Frame | undefined): Frame | undefined {
    if (node === nothing) return next;
    let byNext = this.byNode.get(node);
    if (byNext === undefined) this.byNode.set(node, (byNext = new Map()));
    let frame = byNext.get(next);
    if (frame === undefined) {
      if (++this.count > maximumFrames) throw new GrammarStepsError(`${maximumFrames} positions for one response`);
      byNext.set(next, (frame = { node, next }));
    }
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

/** The frames that a grammar with repetitions or references in it begins with. */
function partsOf(frames: Frames, { node, next }: Frame): (Frame | undefined)[] {
  if (node.kind === "choice") return node.items.map((item) => frames.frame(item, next));
  if (node.kind === "reference") return [frames.frame(node.resolve(), next)];
  if (node.kind === "sequence") {
    return [node.items.reduceRight((after: Frame | undefined, item) => frames.frame(item, after), next)];
  }
  if (node.kind !== "repeat") return [];
  const parts = node.minimum === 0 ? [next] : [];
  if (node.maximum > 0) parts.push(frames.frame(node.item, frames.frame(frames.rest(node), next)));
  return parts;
}

/** A matcher for one text. Discard it with the text: it caches the states that it reached. */
export function createMatcher(grammar: Grammar): Matcher {
  const frames = new Frames();
  let steps = 0;
  const count = (more: number): void => {
    steps += more;
    if (steps > maximumSteps) throw new GrammarStepsError(`${maximumSteps} steps for one token`);
  };

  /** Collects the positions that decide the next byte, with an explicit stack because grammars may be deep. */
  const stateOf = (heads: readonly (Frame | undefined)[]): MatcherState => {
    const places: Place[] = [];
    const visited = new Set<Frame | undefined>();
    const open = [...heads];
    while (open.length > 0) {
      const frame = open.pop();
      if (visited.has(frame)) continue;
      visited.add(frame);
      count(1);
      if (frame === undefined) continue;
      const beginning = beginningOf(frame.node);
      if (beginning === "composed") {
        if (frame.node.kind === "sequence") count(frame.node.items.length);
        for (const part of partsOf(frames, frame)) open.push(part);
        continue;
      }
      count(beginning.heads.length);
      for (const head of beginning.heads) places.push({ head, next: frame.next });
      if (beginning.nullable) open.push(frame.next);
    }
    return { places, complete: visited.has(undefined), after: new Map() };
  };

  const step = (state: MatcherState, byte: number): MatcherState | undefined => {
    if (state.after.has(byte)) return state.after.get(byte);
    count(state.places.length);
    const taken = state.places.filter(({ head }) => head.allowed[byte] === 1);
    const next =
      taken.length === 0 ? undefined : stateOf(taken.map((place) => frames.frame(place.head.rest, place.next)));
    state.after.set(byte, next);
    return next;
  };

  return {
    start: stateOf([frames.frame(grammar, undefined)]),
    advance(state, bytes) {
      let current: MatcherState | undefined = state;
      for (const byte of bytes) {
        current = step(current, byte);
        if (current === undefined) return undefined;
      }
      return current;
    },
    renew() {
      steps = 0;
    },
  };
}
