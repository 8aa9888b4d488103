/**
 * Converts a grammar to and from a list of nodes that refer to each other by index, which threads can exchange at any depth.
 */
import { nothing, reference, type Grammar } from "./grammar.ts";

type FlatNode =
  | { readonly kind: "byte"; readonly allowed: Uint8Array }
  | { readonly kind: "sequence" | "choice"; readonly items: readonly number[] }
  | { readonly kind: "repeat"; readonly item: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "reference"; readonly target: number };

/** The first node is the grammar itself. */
export type FlatGrammar = readonly FlatNode[];

/** A grammar has more nodes than it may. */
export class GrammarSizeError extends Error {
  override readonly name = "GrammarSizeError";
}

/** @throws GrammarSizeError */
export function flattenGrammar(grammar: Grammar, maximumNodes: number): FlatGrammar {
  const indexes = new Map<Grammar, number>([[grammar, 0]]);
  const nodes = [grammar];
  const indexOf = (node: Grammar): number => {
    const known = indexes.get(node);
    if (known !== undefined) return known;
    if (nodes.length >= maximumNodes) throw new GrammarSizeError(`it needs more than ${maximumNodes} nodes`);
    indexes.set(node, nodes.length);
    return nodes.push(node) - 1;
  };
  const flat: FlatNode[] = [];
  // Grows while it is read.
  for (const node of nodes) flat.push(flatNode(node, indexOf));
  return flat;
}

function flatNode(node: Grammar, indexOf: (node: Grammar) => number): FlatNode {
  switch (node.kind) {
    case "byte":
      return node;
    case "sequence":
    case "choice":
      return { kind: node.kind, items: node.items.map(indexOf) };
    case "repeat":
      return { ...node, item: indexOf(node.item) };
    case "reference":
      return { kind: "reference", target: indexOf(node.resolve()) };
  }
}

export function restoreGrammar(flat: FlatGrammar): Grammar {
  const nodes: Grammar[] = [];
  const fillers: (() => void)[] = [];
  for (const node of flat) {
    if (node.kind === "byte") nodes.push(node);
    else if (node.kind === "reference") nodes.push(reference(() => nodes[node.target]!));
    else if (node.kind === "repeat") {
      const restored = { ...node, item: nothing };
      fillers.push(() => (restored.item = nodes[node.item]!));
      nodes.push(restored);
    } else if (node.kind === "sequence" && node.items.length === 0) nodes.push(nothing);
    else {
      const items: Grammar[] = [];
      fillers.push(() => {
        for (const item of node.items) items.push(nodes[item]!);
      });
      nodes.push({ kind: node.kind, items });
    }
  }
  for (const fill of fillers) fill();
  return nodes[0]!;
}
