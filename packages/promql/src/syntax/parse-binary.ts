/** The modifiers of a binary operator: `bool`, `on`, `ignoring`, `group_left`, `group_right` and `fill`. */
import type { VectorMatching } from "./ast.ts";
import { literalSeconds } from "./parse-duration-expression.ts";
import { stringValue } from "./parse-selector.ts";
import { isLabelName, quoteForMessage } from "./string-literal.ts";
import type { TokenStream } from "./token-stream.ts";

export interface BinaryModifiers {
  readonly returnBool: boolean;
  readonly matching: VectorMatching;
}

/** The modifiers after an operator, none of them included. */
export function parseBinaryModifiers(stream: TokenStream): BinaryModifiers {
  const returnBool = stream.takeIf("bool");
  let matching: VectorMatching = {
    cardinality: "one-to-one",
    labels: [],
    on: false,
    include: [],
    fillLeft: null,
    fillRight: null,
  };
  const on = stream.isKeyword("on");
  if (on || stream.isKeyword("ignoring")) {
    stream.next();
    matching = { ...matching, on, labels: parseLabelList(stream) };
    const isLeft = stream.isKeyword("group_left");
    if (isLeft || stream.isKeyword("group_right")) {
      stream.next();
      const include = stream.isSign("(") ? parseLabelList(stream) : [];
      matching = { ...matching, cardinality: isLeft ? "many-to-one" : "one-to-many", include };
    }
  }
  return { returnBool, matching: { ...matching, ...parseFill(stream) } };
}

function parseFill(stream: TokenStream): Partial<VectorMatching> {
  if (stream.takeIf("fill")) {
    const value = parseFillValue(stream);
    return { fillLeft: value, fillRight: value };
  }
  const fill: { fillLeft?: number; fillRight?: number } = {};
  for (;;) {
    if (fill.fillLeft === undefined && stream.takeIf("fill_left")) fill.fillLeft = parseFillValue(stream);
    else if (fill.fillRight === undefined && stream.takeIf("fill_right")) fill.fillRight = parseFillValue(stream);
    else return fill;
  }
}

function parseFillValue(stream: TokenStream): number {
  stream.expectSign("(", "fill value");
  const isNegative = stream.isSign("-");
  if (isNegative || stream.isSign("+")) stream.next();
  const token = stream.peek();
  if (token.kind !== "number" && token.kind !== "duration") throw stream.unexpected("fill value", "number");
  const value = literalSeconds(stream, stream.next());
  stream.expectSign(")", "fill value");
  return isNegative ? -value : value;
}

/** Label names in parentheses; keywords and quoted names are names here. */
export function parseLabelList(stream: TokenStream): readonly string[] {
  const names: string[] = [];
  stream.expectSign("(", "grouping opts");
  while (!stream.takeIf(")")) {
    const token = stream.peek();
    if (!["identifier", "metric", "keyword", "string"].includes(token.kind)) {
      throw stream.unexpected("grouping opts", "label");
    }
    stream.next();
    const name = token.kind === "string" ? stringValue(stream, token) : stream.text.slice(token.start, token.end);
    if (!isLabelName(name)) throw stream.error(token, `invalid label name for grouping: ${quoteForMessage(name)}`);
    names.push(name);
    if (!stream.isSign(")")) stream.expectSign(",", "grouping opts", '"," or ")"');
  }
  return Object.freeze(names);
}
