/** Parses tool calls in an answer's text as it arrives, so that arguments can be streamed. */
import { loosePattern, type ToolFormat } from "./tool-format.ts";

export type ToolCallPart =
  | { readonly kind: "call"; readonly index: number; readonly name: string }
  | { readonly kind: "arguments"; readonly index: number; readonly text: string };

export interface ToolCallReader {
  push(text: string): ToolCallPart[];
  /** How many calls were read to their end. */
  readonly complete: number;
}

/** Finds the end of a JSON object in pieces. */
function createObjectScanner(): (text: string) => number | undefined {
  let depth = 0;
  let inString = false;
  let escaped = false;
  return (text) => {
    for (let index = 0; index < text.length; index++) {
      const character = text[index];
      if (escaped) escaped = false;
      else if (inString) {
        if (character === "\\") escaped = true;
        else if (character === '"') inString = false;
      } else if (character === '"') inString = true;
      else if (character === "{" || character === "[") depth++;
      else if ((character === "}" || character === "]") && --depth === 0) return index + 1;
    }
    return undefined;
  };
}

export function createToolCallReader(format: ToolFormat, names: readonly string[]): ToolCallReader {
  const alternatives = names
    .toSorted((one, other) => other.length - one.length)
    .map(loosePattern)
    .join("|");
  const beginning = (text: string): RegExp =>
    new RegExp(`^\\s*${loosePattern(text)}(${alternatives})${loosePattern(format.middle)}`);
  const first = beginning(format.opening);
  const further = format.between === undefined ? undefined : beginning(format.between);
  let pending = "";
  let index = -1;
  let complete = 0;
  let scan: ((text: string) => number | undefined) | undefined;

  const readName = (parts: ToolCallPart[]): boolean => {
    const match = (index === -1 ? first : further)?.exec(pending);
    const rest = match == null ? "" : pending.slice(match[0].length).trimStart();
    if (match == null || rest === "") return false;
    parts.push({ kind: "call", index: ++index, name: match[1]! });
    pending = rest;
    scan = createObjectScanner();
    return true;
  };

  const readArguments = (parts: ToolCallPart[]): boolean => {
    if (pending === "") return false;
    const end = scan?.(pending);
    parts.push({ kind: "arguments", index, text: pending.slice(0, end) });
    pending = end === undefined ? "" : pending.slice(end);
    if (end === undefined) return false;
    scan = undefined;
    complete++;
    return true;
  };

  return {
    push(text) {
      pending += text;
      const parts: ToolCallPart[] = [];
      while (scan === undefined ? readName(parts) : readArguments(parts));
      return parts;
    },
    get complete() {
      return complete;
    },
  };
}
