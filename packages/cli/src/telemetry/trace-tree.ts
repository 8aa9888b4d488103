/** Arranges the spans of one trace as a tree: the call hierarchy over all services. */
import type { Span, TracesResult } from "@sounding/client";

export type Trace = TracesResult["traces"][number];

export interface TreeNode {
  readonly span: Span;
  readonly service: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly children: TreeNode[];
}

/** The spans as trees. A span whose parent is not in the trace is a root. */
function growTrees(trace: Trace, result: TracesResult): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  for (const batch of result.batches) {
    const service = serviceOf(batch.resource);
    for (const span of batch.scope_spans.flatMap(({ spans }) => spans)) {
      const startNs = BigInt(span.startTimeUnixNano ?? trace.startTimeUnixNano);
      nodes.set(span.spanId, { span, service, startNs, endNs: BigInt(span.endTimeUnixNano ?? startNs), children: [] });
    }
  }
  const roots: TreeNode[] = [];
  for (const node of [...nodes.values()].sort(byStart)) {
    const parent = nodes.get(node.span.parentSpanId ?? "");
    (parent === undefined || isWithin(parent, node, nodes) ? roots : parent.children).push(node);
  }
  return roots;
}

function byStart(left: TreeNode, right: TreeNode): number {
  return left.startNs < right.startNs ? -1 : left.startNs > right.startNs ? 1 : 0;
}

/** Whether `node` is its own ancestor, which broken senders can cause. */
function isWithin(start: TreeNode, node: TreeNode, nodes: ReadonlyMap<string, TreeNode>): boolean {
  const passed = new Set<TreeNode>();
  for (let at: TreeNode | undefined = start; at !== undefined && !passed.has(at);) {
    if (at === node) return true;
    passed.add(at);
    at = nodes.get(at.span.parentSpanId ?? "");
  }
  return false;
}

function serviceOf(resource: Readonly<Record<string, unknown>>): string {
  const attributes = (resource["attributes"] ?? []) as { key: string; value: { stringValue?: string } }[];
  return attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "unknown_service";
}

export interface TreeLine {
  /** The branches of the tree that lead to the span. */
  readonly branches: string;
  readonly node: TreeNode;
}

/** The spans as lines of a tree, each parent before its children. */
export function linesOfTrace(trace: Trace, result: TracesResult): TreeLine[] {
  return [...linesOf(growTrees(trace, result))];
}

function* linesOf(nodes: readonly TreeNode[], indent = "", top = true): Generator<TreeLine> {
  for (const [index, node] of nodes.entries()) {
    const last = index === nodes.length - 1;
    yield { branches: top ? "" : `${indent}${last ? "└─ " : "├─ "}`, node };
    yield* linesOf(node.children, `${indent}${top ? "" : last ? "   " : "│  "}`, false);
  }
}
