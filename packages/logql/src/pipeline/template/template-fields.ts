/** Finds the labels that a template mentions. */
import type { Operand, Pipeline, TemplateNode } from "./tree.ts";

/** The label, if the template is only `{{.label}}`. */
export function singleField(nodes: readonly TemplateNode[]): string | undefined {
  const [node] = nodes;
  if (nodes.length !== 1 || node!.kind !== "action" || node!.pipeline.variables.length > 0) return undefined;
  const [operands] = node!.pipeline.commands;
  const [operand] = operands!;
  const isSingle = node!.pipeline.commands.length === 1 && operands!.length === 1;
  return isSingle && operand!.kind === "field" && operand!.names.length === 1 ? operand!.names[0] : undefined;
}

export function fieldsIn(nodes: readonly TemplateNode[]): readonly string[] {
  return [...new Set(nodes.flatMap((node) => ofNode(node)))];
}

function ofNode(node: TemplateNode): readonly string[] {
  switch (node.kind) {
    case "action":
      return ofPipeline(node.pipeline);
    case "if":
    case "with":
    case "range":
      return [...ofPipeline(node.pipeline), ...fieldsIn(node.body), ...fieldsIn(node.otherwise)];
    default:
      return [];
  }
}

function ofPipeline({ commands }: Pipeline): readonly string[] {
  return commands.flat().flatMap((operand) => ofOperand(operand));
}

function ofOperand(operand: Operand): readonly string[] {
  switch (operand.kind) {
    case "field":
    case "variable":
      return operand.names;
    case "pipeline":
      return [...ofPipeline(operand.pipeline), ...operand.names];
    default:
      return [];
  }
}
