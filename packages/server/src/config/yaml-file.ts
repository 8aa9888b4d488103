/** Reads the configuration file (YAML 1.2) and maps every error and value to its line. */
import { readFile } from "node:fs/promises";
import { inputLimit } from "../input-limits.ts";
import { isMap, isPair, isScalar, isSeq, isAlias, LineCounter, parseDocument, type Document, type Node } from "yaml";
import { redactText } from "../logger.ts";
import { formatPath, type ConfigProblem, type SettingPath } from "./problem.ts";

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface YamlFile {
  readonly file: string;
  /** The file's content as plain objects; undefined if it is empty or unreadable. */
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
  /** The position of a value (or of the name before it), or of the nearest enclosing value. */
  locate(path: SettingPath, part: "key" | "value"): Place;
}

const largestFileBytes = inputLimit({
  area: "Configuration and model files",
  bounds: "The configuration file",
  value: 8 * 1024 * 1024,
  unit: "bytes",
  error: { instead: "an error when the configuration is loaded" },
});

const readFaults: Record<string, string> = {
  ENOENT: "The file does not exist.",
  EACCES: "The file cannot be read: permission denied.",
  EPERM: "The file cannot be read: not permitted.",
  EISDIR: "This is a folder, not a file.",
};

/** @returns the file, or undefined if it does not exist and is not required. */
export async function readYamlFile(file: string, required: boolean): Promise<YamlFile | undefined> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "ENOENT" && !required) return undefined;
    return unreadable(file, readFaults[code] ?? `The file cannot be read (${code || "unknown error"}).`);
  }
  if (content.length > largestFileBytes) {
    return unreadable(file, `The file has ${content.length} bytes; at most ${largestFileBytes} are allowed.`);
  }
  try {
    return parseYaml(file, new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    return unreadable(file, "The file is not UTF-8 text.");
  }
}

function unreadable(file: string, message: string): YamlFile {
  return {
    file,
    value: undefined,
    problems: [{ file, path: "", message }],
    locate: () => ({ line: 1, column: 1 }),
  };
}

/**
 * Parses a file's text and keeps the positions of values. Duplicate names are reported, but the rest is still checked.
 */
export function parseYaml(file: string, text: string): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, merge: true });
  const place = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems: ConfigProblem[] = [...document.errors, ...document.warnings].map((fault) => ({
    file,
    ...place(fault.pos[0]),
    path: "",
    message:
      fault.code === "DUPLICATE_KEY"
        ? `The name ${JSON.stringify(nameAt(text, fault.pos[0]))} appears twice in the same map; remove one of them.`
        : `Not valid YAML: ${redactText(fault.message)}`,
  }));
  const locate = (path: SettingPath, part: "key" | "value") => place(locateOffset(document, path, part));
  if (document.errors.some((error) => error.code !== "DUPLICATE_KEY")) {
    return { file, value: undefined, problems, locate };
  }
  try {
    return { file, value: document.toJS({ maxAliasCount: 100 }), problems, locate };
  } catch (error) {
    problems.push({
      file,
      path: "",
      message: `The YAML cannot be used: ${error instanceof Error ? error.message : "unknown error"}`,
    });
    return { file, value: undefined, problems, locate };
  }
}

function nameAt(text: string, offset: number): string {
  return /^["']?([^:"'\n]*)/.exec(text.slice(offset))?.[1]?.trim() ?? "";
}

function locateOffset(document: Document, path: SettingPath, part: "key" | "value"): number {
  let node: unknown = document.contents;
  let keyOffset = 0;
  for (const step of path) {
    const container = isAlias(node) ? node.resolve(document) : node;
    if (isMap(container)) {
      const pair = container.items.find((item) => isPair(item) && nameOf(item.key) === String(step));
      if (pair === undefined) break;
      keyOffset = offsetOf(pair.key) ?? keyOffset;
      node = pair.value;
    } else if (isSeq(container) && typeof step === "number" && container.items[step] !== undefined) {
      node = container.items[step];
      keyOffset = offsetOf(node) ?? keyOffset;
    } else break;
  }
  return part === "key" ? keyOffset : valueOffset(node, keyOffset);
}

/** The position of a map is its name, where a person looks for it. */
function valueOffset(node: unknown, keyOffset: number): number {
  return isScalar(node) || isAlias(node) ? (offsetOf(node) ?? keyOffset) : keyOffset;
}

function nameOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | undefined)?.range?.[0];
}

/** A problem at a position in the file. */
export function problemIn(
  file: YamlFile,
  at: { path: SettingPath; part: "key" | "value" },
  message: string,
): ConfigProblem {
  return { file: file.file, ...file.locate(at.path, at.part), path: formatPath(at.path), message };
}
