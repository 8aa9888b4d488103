/**
 * An upper bound on the cost of compiling an expression, from one pass over its text: RE2 repeats what precedes `{1000}` a
 * thousand times, so a few characters can mean gigabytes. One unit is about one instruction of the compiled program.
 */

/** `\pL` and its like: tables of hundreds of ranges, copied for each repetition. */
const unicodeClassCost = 100;
/** Under `(?i)` each code point of a range is looked up: this many of them cost as much as an instruction. */
const foldsPerUnit = 128;

interface Group {
  /** What the alternatives before the last atom cost. */
  total: number;
  last: number;
}

interface Scan {
  readonly text: string;
  at: number;
  foldsCase: boolean;
  readonly outer: Group[];
  group: Group;
}

/** An upper bound of the cost; expressions that do not parse have one too. */
export function compileCost(expression: string): number {
  const scan: Scan = {
    text: expression,
    at: 0,
    // Where the flag is set in the middle of an expression, all of it counts as case-insensitive.
    foldsCase: /\(\?[a-zA-Z]*i/.test(expression),
    outer: [],
    group: { total: 0, last: 0 },
  };
  while (scan.at < expression.length) readToken(scan);
  while (scan.outer.length > 0) closeGroup(scan);
  return scan.group.total + scan.group.last + 2;
}

function readToken(scan: Scan): void {
  const { group, text } = scan;
  switch (text[scan.at]) {
    case "\\":
      return readEscape(scan);
    case "[":
      return readClass(scan);
    case "(":
      scan.at += 1;
      skipGroupFlags(scan);
      scan.outer.push(group);
      scan.group = { total: 0, last: 0 };
      return;
    case ")":
      scan.at += 1;
      return closeGroup(scan);
    case "|":
      scan.at += 1;
      return atom(scan, 2);
    case "*":
    case "+":
    case "?":
      scan.at += 1;
      group.last += 2;
      return;
    case "{":
      return readRepetition(scan);
    default:
      scan.at += text.codePointAt(scan.at)! > 0xffff ? 2 : 1;
      return atom(scan, 1);
  }
}

function atom({ group }: Scan, cost: number): void {
  group.total += group.last;
  group.last = cost;
}

function closeGroup(scan: Scan): void {
  const inner = scan.group;
  const outer = scan.outer.pop();
  if (outer === undefined) return;
  scan.group = outer;
  atom(scan, inner.total + inner.last + 2);
}

/** `?:`, `?i`, `?P<name>`: a name's characters cost nothing, since no repetition copies them. */
function skipGroupFlags(scan: Scan): void {
  const flags = /^\?(?:P?<[^>]*>|[a-zA-Z-]*:?)/.exec(scan.text.slice(scan.at, scan.at + 1024));
  if (flags !== null) scan.at += flags[0].length;
}

const repetition = /\{(\d+)(?:,(\d*))?\}/y;

function readRepetition(scan: Scan): void {
  repetition.lastIndex = scan.at;
  const match = repetition.exec(scan.text);
  if (match === null) {
    scan.at += 1;
    atom(scan, 1);
    return;
  }
  scan.at = repetition.lastIndex;
  const least = Number(match[1]);
  const most = match[2] === undefined ? least : match[2] === "" ? least + 1 : Number(match[2]);
  // Where the number varies, each further repetition needs an instruction to leave it out.
  scan.group.last = Math.max(1, most) * scan.group.last + Math.max(0, most - least) + 1;
}

const escapeText = /\\(?:[pP](?:\{[^}]*\}|[^]?)|x(?:\{[0-9a-fA-F]*\}|[0-9a-fA-F]{0,2})|[0-7]{1,3}|[^])/uy;
const quotedText = /\\Q([^]*?)(?:\\E|$)/y;

function readEscape(scan: Scan): void {
  quotedText.lastIndex = scan.at;
  const quoted = quotedText.exec(scan.text);
  if (quoted !== null) {
    scan.at = quotedText.lastIndex;
    scan.group.total += quoted[1]!.length;
    return atom(scan, 1);
  }
  const escape = takeEscape(scan);
  atom(scan, isUnicodeClass(escape) ? unicodeClassCost : 1);
}

function takeEscape(scan: Scan): string {
  escapeText.lastIndex = scan.at;
  const escape = escapeText.exec(scan.text)?.[0] ?? "\\";
  scan.at += escape.length;
  return escape;
}

function isUnicodeClass(escape: string): boolean {
  return escape[1] === "p" || escape[1] === "P";
}

/** `[…]`: an instruction, and the work of putting its ranges in order. */
function readClass(scan: Scan): void {
  const { text } = scan;
  const start = scan.at;
  scan.at += text[start + 1] === "^" ? 2 : 1;
  let cost = 1;
  let previous: number | undefined;
  let isRange = false;
  for (let isFirst = true; scan.at < text.length && (isFirst || text[scan.at] !== "]"); isFirst = false) {
    if (text.startsWith("[:", scan.at)) {
      const end = text.indexOf(":]", scan.at);
      scan.at = end === -1 ? scan.at + 2 : end + 2;
      previous = undefined;
      continue;
    }
    const item = text[scan.at] === "\\" ? takeEscape(scan) : String.fromCodePoint(text.codePointAt(scan.at)!);
    if (item[0] !== "\\") scan.at += item.length;
    if (item === "-" && previous !== undefined && !isRange) {
      isRange = true;
      continue;
    }
    const codePoint = codePointOf(item);
    if (item.length > 1 && isUnicodeClass(item)) cost += unicodeClassCost * (scan.foldsCase ? 3 : 1);
    else if (isRange && scan.foldsCase) cost += Math.max(0, codePoint - (previous ?? 0)) / foldsPerUnit;
    previous = isRange ? undefined : codePoint;
    isRange = false;
  }
  scan.at += 1;
  atom(scan, Math.floor(cost + (scan.at - start) / 16));
}

function codePointOf(item: string): number {
  if (item[0] !== "\\") return item.codePointAt(0)!;
  if (item[1] === "x") return Number.parseInt(item.replaceAll(/[\\x{}]/g, ""), 16) || 0;
  return /^\\[0-7]/.test(item) ? Number.parseInt(item.slice(1), 8) : (item.codePointAt(1) ?? 0);
}
