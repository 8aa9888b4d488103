/** The modifiers of binary operators and aggregations: `bool`, `on`, `ignoring`, `group_left`, `group_right`, `by`, `without`. */
import type { Grouping, VectorMatching } from "./ast.ts";
import type { TokenStream } from "./token-stream.ts";

/** What follows an operator. */
export function parseBinaryModifiers(stream: TokenStream): { returnBool: boolean; matching: VectorMatching } {
  const returnBool = stream.takeIf("bool");
  let matching: VectorMatching = {
    cardinality: "one-to-one",
    labels: [],
    on: false,
    include: [],
    fillLeft: null,
    fillRight: null,
  };
  const on = stream.isNext("on");
  if (!on && !stream.isNext("ignoring")) return { returnBool, matching };
  stream.next();
  matching = { ...matching, on, labels: parseLabels(stream) };
  const isLeft = stream.isNext("group_left");
  if (isLeft || stream.isNext("group_right")) {
    stream.next();
    const include = stream.isNext("(") ? parseLabels(stream) : [];
    matching = { ...matching, cardinality: isLeft ? "many-to-one" : "one-to-many", include };
  }
  return { returnBool, matching };
}

/** `by (a, b)` or `without (a, b)`; null if neither comes next. */
export function parseGrouping(stream: TokenStream): Grouping | null {
  const without = stream.isNext("without");
  if (!without && !stream.isNext("by")) return null;
  stream.next();
  return Object.freeze({ labels: parseLabels(stream), without });
}

function parseLabels(stream: TokenStream): readonly string[] {
  stream.expect("(");
  const labels: string[] = [];
  if (stream.takeIf(")")) return Object.freeze(labels);
  do labels.push(stream.expectKind("identifier").text);
  while (stream.takeIf(","));
  stream.expect(")", ", or )");
  return Object.freeze(labels);
}
