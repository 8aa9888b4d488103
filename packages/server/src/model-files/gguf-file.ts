/**
 * Reads the metadata of a GGUF file: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 * The first bytes are validated here, because the library's reader never returns for an unknown version.
 */
import { open } from "node:fs/promises";

export interface GgufDescription {
  readonly architecture: string | undefined;
  /** The model's own name. */
  readonly name: string | undefined;
  /** Tokens that the model was trained on. */
  readonly contextLength: number | undefined;
  /** Whether it has a chat template. */
  readonly hasChatTemplate: boolean;
}

/** Why a file is not a model; undefined if it may be one. */
export async function ggufProblem(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(24);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    if (bytesRead < head.length || head.toString("latin1", 0, 4) !== "GGUF") return "it is not a GGUF file";
    const version = head.readUInt32LE(4);
    if (version !== 2 && version !== 3) return `its GGUF version is ${version}; versions 2 and 3 are supported`;
    return undefined;
  } finally {
    await file.close();
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * The metadata of a model file.
 * @throws Error with the reason why it cannot be read
 */
export async function describeGguf(path: string): Promise<GgufDescription> {
  const problem = await ggufProblem(path);
  if (problem !== undefined) throw new Error(problem);
  const { readGgufFileInfo } = await import("node-llama-cpp");
  const { metadata } = await readGgufFileInfo(path, {
    sourceType: "filesystem",
    readTensorInfo: false,
    spliceSplitFiles: false,
    logWarnings: false,
    ignoreKeys: [
      "tokenizer.ggml.tokens",
      "tokenizer.ggml.merges",
      "tokenizer.ggml.scores",
      "tokenizer.ggml.token_type",
    ],
  });
  const { general, tokenizer } = metadata;
  const architecture = textOf(general.architecture);
  const ofArchitecture = architecture === undefined ? undefined : (metadata as Record<string, unknown>)[architecture];
  const contextLength = (ofArchitecture as { context_length?: unknown } | undefined)?.context_length;
  return {
    architecture,
    name: textOf(general.name),
    contextLength: typeof contextLength === "number" ? contextLength : undefined,
    hasChatTemplate: tokenizer?.chat_template !== undefined,
  };
}
