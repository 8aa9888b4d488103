/** A trace as the view needs it: its spans in the order of the tree, with times relative to its start. */
import { plainValue, valueText, type KeyValue } from "../../genai/any-value.ts";
import { hexId, type TempoResource, type TempoScope, type TempoSpan, type TempoTrace } from "./tempo-json.ts";

export interface TraceSpan {
  /** Its place in `TraceModel.spans`. */
  readonly index: number;
  /** The span ID; a further span with the same ID has `~2`, `~3`, … after it. */
  readonly key: string;
  readonly id: string;
  readonly parentId: string;
  readonly name: string;
  readonly service: string;
  /** The service's place in `TraceModel.services`. */
  readonly serviceIndex: number;
  /** Nanoseconds after the trace's start. */
  readonly startNs: number;
  readonly endNs: number;
  readonly failed: boolean;
  /** Of the parent in `TraceModel.spans`; -1 for roots. */
  readonly parent: number;
  readonly depth: number;
  readonly children: readonly number[];
  /** The index after its last descendant. */
  readonly next: number;
  /** Why it is a root although it names a parent: the parent has not arrived, or is one of its descendants. */
  readonly detached: "missing" | "cycle" | undefined;
  readonly raw: TempoSpan;
  readonly resource: TempoResource;
  readonly scope: TempoScope;
}

export interface TraceModel {
  readonly id: string;
  readonly name: string;
  readonly service: string;
  readonly startUnixNano: bigint;
  readonly startMs: number;
  readonly durationNs: number;
  readonly errorCount: number;
  readonly models: TempoTrace["summary"]["models"];
  readonly cost: number | null;
  /** Each parent before its children, which are ordered by start. */
  readonly spans: readonly TraceSpan[];
  readonly roots: readonly number[];
  readonly byKey: ReadonlyMap<string, TraceSpan>;
  /** In the order of the tree. */
  readonly services: readonly string[];
  readonly projects: readonly string[];
  /** The deepest `depth`. */
  readonly depth: number;
}

/** A span before its place in the tree is known. */
interface Arrived {
  readonly raw: TempoSpan;
  readonly resource: TempoResource;
  readonly scope: TempoScope;
  readonly service: string;
  readonly id: string;
  readonly parentId: string;
  readonly startNs: number;
  readonly endNs: number;
}

export function readTrace(trace: TempoTrace): TraceModel {
  const startUnixNano = BigInt(trace.startTimeUnixNano);
  const arrived = readSpans(trace, startUnixNano);
  const { parents, detached } = findParents(arrived);
  const children = findChildren(arrived, parents);
  const order = treeOrder(children);
  const places = new Int32Array(arrived.length);
  for (const [place, index] of order.entries()) places[index] = place;
  const ends = subtreeEnds(order, children, places);

  const services = new Map<string, number>();
  const byKey = new Map<string, TraceSpan>();
  const spans: TraceSpan[] = [];
  let depth = 0;
  for (const [place, index] of order.entries()) {
    const { raw, resource, scope, service, id, parentId, startNs, endNs } = arrived[index]!;
    if (!services.has(service)) services.set(service, services.size);
    const parent = parents[index] === -1 ? -1 : places[parents[index]!]!;
    const span: TraceSpan = {
      index: place,
      key: freeKey(byKey, id),
      id,
      parentId,
      name: raw.name ?? "",
      service,
      serviceIndex: services.get(service)!,
      startNs,
      endNs,
      failed: raw.status?.code === "STATUS_CODE_ERROR" || raw.status?.code === 2,
      parent,
      depth: parent === -1 ? 0 : spans[parent]!.depth + 1,
      children: children[index]!.map((child) => places[child]!),
      next: ends[place]!,
      detached: detached.get(index),
      raw,
      resource,
      scope,
    };
    depth = Math.max(depth, span.depth);
    byKey.set(span.key, span);
    spans.push(span);
  }
  return {
    id: trace.traceID,
    name: trace.rootTraceName,
    service: trace.rootServiceName,
    startUnixNano,
    startMs: Number(startUnixNano / 1_000n) / 1_000,
    durationNs: spans.reduce((latest, { endNs }) => Math.max(latest, endNs), 0),
    errorCount: spans.filter(({ failed }) => failed).length,
    models: trace.summary.models,
    cost: trace.summary.cost,
    spans,
    roots: spans.filter(({ parent }) => parent === -1).map(({ index }) => index),
    byKey,
    services: [...services.keys()],
    projects: projectsOf(trace),
    depth,
  };
}

function readSpans(trace: TempoTrace, startUnixNano: bigint): Arrived[] {
  const spans: Arrived[] = [];
  for (const { resource, scopeSpans } of trace.batches ?? []) {
    const service = attribute(resource, "service.name") ?? "unknown_service";
    for (const { scope, spans: raws } of scopeSpans) {
      for (const raw of raws) {
        const start = BigInt(raw.startTimeUnixNano ?? raw.endTimeUnixNano ?? startUnixNano);
        const end = BigInt(raw.endTimeUnixNano ?? start);
        const startNs = Number(start - startUnixNano);
        spans.push({
          raw,
          resource,
          scope,
          service,
          id: hexId(raw.spanId),
          parentId: hexId(raw.parentSpanId),
          startNs,
          endNs: Math.max(startNs, Number(end - startUnixNano)),
        });
      }
    }
  }
  return spans.sort((left, right) => left.startNs - right.startNs || right.endNs - left.endNs);
}

/** The index of each span's parent, or -1; and which spans name a parent that they cannot have. */
function findParents(spans: readonly Arrived[]) {
  const byId = new Map<string, number[]>();
  for (const [index, { id }] of spans.entries()) {
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [index]);
    else same.push(index);
  }
  const detached = new Map<number, "missing" | "cycle">();
  const parents = Int32Array.from(spans, ({ parentId, startNs }, index) => {
    if (parentId === "") return -1;
    const candidates = byId.get(parentId) ?? [];
    // Of several spans with the ID, the one that runs when the child starts.
    const running = candidates.find((each) => spans[each]!.startNs <= startNs && startNs <= spans[each]!.endNs);
    const parent = running ?? candidates[0];
    if (parent === undefined) detached.set(index, "missing");
    return parent ?? -1;
  });
  for (const index of cycleStarts(parents)) {
    parents[index] = -1;
    detached.set(index, "cycle");
  }
  return { parents, detached };
}

/** The earliest span of each cycle: without its parent, the cycle is a tree. */
function cycleStarts(parents: Int32Array): number[] {
  const starts: number[] = [];
  // The walk that passed a span first; 0 if none did.
  const walks = new Int32Array(parents.length);
  for (let index = 0; index < parents.length; index += 1) {
    let at = index;
    while (at !== -1 && walks[at] === 0) {
      walks[at] = index + 1;
      at = parents[at]!;
    }
    if (at === -1 || walks[at] !== index + 1) continue;
    let earliest = at;
    for (let member = parents[at]!; member !== at; member = parents[member]!) earliest = Math.min(earliest, member);
    starts.push(earliest);
  }
  return starts;
}

/** The children of each span, and after the last span those of none. */
function findChildren(spans: readonly Arrived[], parents: Int32Array): number[][] {
  const children: number[][] = Array.from({ length: spans.length + 1 }, () => []);
  for (let index = 0; index < spans.length; index += 1) {
    const parent = parents[index]!;
    children[parent === -1 ? spans.length : parent]!.push(index);
  }
  return children;
}

/** Without recursion: a chain of calls can be longer than the stack is deep. */
function treeOrder(children: readonly (readonly number[])[]): number[] {
  const order: number[] = [];
  const waiting = children.at(-1)!.toReversed();
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    order.push(index);
    const own = children[index]!;
    for (let child = own.length - 1; child >= 0; child -= 1) waiting.push(own[child]!);
  }
  return order;
}

function subtreeEnds(
  order: readonly number[],
  children: readonly (readonly number[])[],
  places: Int32Array,
): Int32Array {
  const ends = new Int32Array(order.length);
  for (let place = order.length - 1; place >= 0; place -= 1) {
    const last = children[order[place]!]!.at(-1);
    ends[place] = last === undefined ? place + 1 : ends[places[last]!]!;
  }
  return ends;
}

function freeKey(taken: ReadonlyMap<string, unknown>, id: string): string {
  let key = id;
  for (let copy = 2; taken.has(key); copy += 1) key = `${id}~${copy}`;
  return key;
}

function projectsOf(trace: TempoTrace): string[] {
  const names = (trace.batches ?? []).map(({ resource }) => attribute(resource, "project.name"));
  return [...new Set(names.filter((name) => name !== undefined))];
}

function attribute(
  { attributes = [] }: { readonly attributes?: readonly KeyValue[] },
  name: string,
): string | undefined {
  const found = attributes.find(({ key }) => key === name);
  return found && valueText(plainValue(found.value));
}
