/** Parses JSON that people write, and says where it is wrong: browsers report positions differently or not at all. */

export type JsonResult =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string };

export function parseJsonText(text: string): JsonResult {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const { offset, expected } = findError(text);
    const before = text.slice(0, offset).split("\n");
    const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    const found =
      offset >= text.length ? "the end of the text" : JSON.stringify(String.fromCodePoint(text.codePointAt(offset)!));
    return { problem: `Not JSON at ${place}: expected ${expected}, found ${found}.` };
  }
}

interface Fault {
  readonly offset: number;
  readonly expected: string;
}

const tokens = {
  space: /[\t\n\r ]*/y,
  // oxlint-disable-next-line no-control-regex
  string: /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y,
  number: /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y,
  word: /true|false|null/y,
} as const;

/** Where text that is not JSON stops being JSON. Nesting is on a stack of our own, since texts can be hostile. */
function findError(text: string): Fault {
  let offset = 0;
  const take = (kind: keyof typeof tokens): boolean => {
    const pattern = tokens[kind];
    pattern.lastIndex = offset;
    if (!pattern.test(text)) return false;
    offset = pattern.lastIndex;
    return true;
  };
  const skip = (character: string): boolean => {
    if (text[offset] !== character) return false;
    offset += 1;
    return true;
  };
  const open: ("{" | "[")[] = [];
  /** What comes next: a value, a name, or what follows a value. */
  let next: "value" | "first" | "name" | "after" = "value";
  for (;;) {
    take("space");
    const inside = open.at(-1);
    if (next === "after") {
      if (inside === undefined) return { offset, expected: "the end of the text" };
      if (skip(",")) next = inside === "{" ? "name" : "value";
      else if (skip(inside === "{" ? "}" : "]")) open.pop();
      else return { offset, expected: inside === "{" ? '"," or "}"' : '"," or "]"' };
      continue;
    }
    if (next === "first" && skip(inside === "{" ? "}" : "]")) {
      open.pop();
      next = "after";
      continue;
    }
    if (next === "name" || (next === "first" && inside === "{")) {
      if (!take("string"))
        return stringFault(text, offset, next === "first" ? 'a name in quotes or "}"' : "a name in quotes");
      take("space");
      if (!skip(":")) return { offset, expected: '":"' };
      next = "value";
      continue;
    }
    if (skip("{") || skip("[")) {
      open.push(text[offset - 1] as "{" | "[");
      next = "first";
    } else if (take("string") || take("word") || take("number")) next = "after";
    else return stringFault(text, offset, next === "first" ? 'a value or "]"' : "a value");
  }
}

/** A string that is not closed, or has a wrong escape, is wrong inside it. */
function stringFault(text: string, offset: number, expected: string): Fault {
  if (text[offset] !== '"') return { offset, expected };
  // oxlint-disable-next-line no-control-regex
  const valid = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
  valid.lastIndex = offset;
  valid.test(text);
  const end = valid.lastIndex;
  return { offset: end, expected: text[end] === "\\" ? "an escape such as \\n or \\u0041" : 'the closing "' };
}
