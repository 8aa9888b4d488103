/**
 * The critical path of a trace: at every moment, the one span that its end waits for. docs/console/README.md has the rule.
 *
 * Read from the end to the start: a span waits for the child that ends last. Before that child starts, it waits for the child
 * that ends last until then, and so on. The time in between is its own. Children that still run when another child on the
 * path starts are not on it, because shortening them would not make the trace shorter.
 */
import type { TraceSpan } from "./trace-model.ts";

/** A part of a span that is on the path, in nanoseconds after the trace's start. */
export interface Segment {
  readonly startNs: number;
  readonly endNs: number;
}

/** A span whose children are being followed, from the latest to the earliest. */
interface Visit {
  readonly index: number;
  /** The path enters the span not before this. */
  readonly fromNs: number;
  /** What follows this moment has been given away. */
  untilNs: number;
  /** Latest end first. */
  readonly children: readonly number[];
  next: number;
}

/** The segments of each span by its index, latest first; spans without any are not on the path. */
export function criticalPath(
  spans: readonly TraceSpan[],
  roots: readonly number[],
): ReadonlyMap<number, readonly Segment[]> {
  const path = new Map<number, Segment[]>();
  const add = (index: number, startNs: number, endNs: number): void => {
    if (index === -1 || startNs >= endNs) return;
    const segments = path.get(index);
    if (segments === undefined) path.set(index, [{ startNs, endNs }]);
    else segments.push({ startNs, endNs });
  };
  const visit = (index: number, children: readonly number[], fromNs: number, untilNs: number): Visit => ({
    index,
    fromNs,
    untilNs,
    children: children.toSorted((left, right) => spans[right]!.endNs - spans[left]!.endNs),
    next: 0,
  });
  // Without recursion: a chain of calls can be longer than the stack is deep.
  const visits = [visit(-1, roots, 0, Number.MAX_SAFE_INTEGER)];
  for (let current = visits.at(-1); current !== undefined; current = visits.at(-1)) {
    const child = nextChild(current, spans);
    if (child === undefined) {
      add(current.index, current.fromNs, current.untilNs);
      visits.pop();
      continue;
    }
    const untilNs = Math.min(child.endNs, current.untilNs);
    const fromNs = Math.max(child.startNs, current.fromNs);
    add(current.index, untilNs, current.untilNs);
    current.untilNs = fromNs;
    visits.push(visit(child.index, child.children, fromNs, untilNs));
  }
  return path;
}

/** The child that ends last before what has been given away; a child that outlives its parent counts until the parent's end. */
function nextChild(current: Visit, spans: readonly TraceSpan[]): TraceSpan | undefined {
  const first = current.next === 0;
  const limitNs = current.untilNs;
  while (current.next < current.children.length) {
    const child = spans[current.children[current.next]!]!;
    current.next += 1;
    if (child.endNs > limitNs && !(first && child.startNs < limitNs)) continue;
    if (child.endNs <= current.fromNs) continue;
    return child;
  }
  return undefined;
}
