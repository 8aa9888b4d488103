/** Renders one trace as a tree: the call hierarchy, and when each span started and ended within the trace. */
import { styleText } from "node:util";
import type { Span, TracesResult } from "@sounding/client";
import { printable } from "../output.ts";

type Trace = TracesResult["traces"][number];

interface TreeNode {
  readonly span: Span;
  readonly service: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly children: TreeNode[];
}

/** A short duration: `850 µs`, `12.3 ms`, `4.56 s`, `3m 20s`. */
export function formatDuration(nanos: bigint): string {
  const ms = Number(nanos) / 1e6;
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms.toPrecision(3).replace(/e\+3$/, "000")} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(2)} s`;
  return `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1000)}s`;
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

interface TreeLine {
  readonly label: string;
  readonly node: TreeNode;
}

function* linesOf(nodes: readonly TreeNode[], indent = "", top = true): Generator<TreeLine> {
  for (const [index, node] of nodes.entries()) {
    const last = index === nodes.length - 1;
    const branch = top ? "" : last ? "└─ " : "├─ ";
    yield { label: `${indent}${branch}${printable(node.span.name ?? "(no name)").replaceAll("\n", " ")}`, node };
    yield* linesOf(node.children, `${indent}${top ? "" : last ? "   " : "│  "}`, false);
  }
}

const barWidth = 30;
const longestLabel = 60;

/** The text of one trace: a heading and a line for each span. */
export function renderTrace(trace: Trace, result: TracesResult, colors: boolean): string {
  const style = (name: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(name, text, { validateStream: false }) : text;
  const lines = [...linesOf(growTrees(trace, result))];
  const startNs = BigInt(trace.startTimeUnixNano);
  const endNs = lines.reduce((latest, { node }) => (node.endNs > latest ? node.endNs : latest), startNs);
  const labelWidth = Math.min(longestLabel, Math.max(0, ...lines.map(({ label }) => label.length)));
  const serviceWidth = Math.max(0, ...lines.map(({ node }) => node.service.length));
  const errors = lines.filter(({ node }) => node.span.status.code === "STATUS_CODE_ERROR").length;
  const started = new Date(Number(startNs / 1_000_000n)).toISOString().replace("T", " ");
  const heading = [
    `Trace ${trace.traceID}`,
    `began ${started}`,
    `took ${formatDuration(endNs - startNs)}`,
    `${lines.length} ${lines.length === 1 ? "span" : "spans"}`,
    ...(errors === 0 ? [] : [style("red", `${errors} ${errors === 1 ? "error" : "errors"}`)]),
  ];
  const rows = lines.map(({ label, node }) => {
    const { code, message } = node.span.status;
    const failed = code === "STATUS_CODE_ERROR";
    const bar = timeBar(node, startNs, endNs);
    return [
      cut(label, labelWidth).padEnd(labelWidth),
      style("gray", printable(node.service).padEnd(serviceWidth)),
      formatDuration(node.endNs - node.startNs).padStart(8),
      style(failed ? "red" : "cyan", bar),
      failed ? style("red", `✗ ${printable(message ?? "error").replaceAll("\n", " ")}`) : "",
    ]
      .join("  ")
      .trimEnd();
  });
  return `${heading.join(" · ")}\n\n${rows.join("\n")}\n`;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** The span's time within the trace, as a bar. */
function timeBar({ startNs, endNs }: TreeNode, traceStartNs: bigint, traceEndNs: bigint): string {
  const whole = Number(traceEndNs - traceStartNs) || 1;
  const position = (ns: bigint): number => (Number(ns - traceStartNs) / whole) * barWidth;
  const from = Math.max(0, Math.min(barWidth - 1, Math.floor(position(startNs))));
  const to = Math.max(from + 1, Math.min(barWidth, Math.ceil(position(endNs))));
  return `${"·".repeat(from)}${"━".repeat(to - from)}${"·".repeat(barWidth - to)}`;
}
