/**
 * Reads the metadata of a GGUF file without its weights: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 * It is read here instead of by llama.cpp's package, so that a server lists model files without loading that package.
 */
import { open, type FileHandle } from "node:fs/promises";
import { isEncoder, poolings, type Pooling } from "./gguf-purpose.ts";

export interface GgufDescription {
  readonly architecture: string | undefined;
  /** The model's own name. */
  readonly name: string | undefined;
  /** Tokens that the model was trained on. */
  readonly contextLength: number | undefined;
  /** Whether it has a chat template. */
  readonly hasChatTemplate: boolean;
  /** How the vectors of a text's tokens become one. */
  readonly pooling: Pooling | undefined;
  /** Whether a token sees only the tokens before it. */
  readonly isCausal: boolean;
}

const headBytes = 24;
/** Metadata has a vocabulary, and a vocabulary has a few hundred thousand entries. */
const mostEntries = 100_000;
const mostElements = 50_000_000;
/** No name and no template of a real model is longer. */
const longestText = 16 * 2 ** 20;
const bytesPerRead = 2 ** 20;
const defaultAlignment = 32;

/** Bytes of a value, by the number of its type; texts and arrays have a length of their own. */
const sizes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const textType = 8;
const arrayType = 9;
const uint32Type = 4;
const boolType = 7;
const uint64Type = 10;

/** Why a file is not a model; undefined if it may be one. */
export async function ggufProblem(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(headBytes);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    return headProblem(head.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function headProblem(head: Buffer): string | undefined {
  if (head.length < headBytes || head.toString("latin1", 0, 4) !== "GGUF") return "it is not a GGUF file";
  const version = head.readUInt32LE(4);
  if (version === 2 || version === 3) return undefined;
  return `its GGUF version is ${version}; versions 2 and 3 are supported`;
}

/**
 * The metadata of a model file.
 * @throws Error with the reason why it cannot be read
 */
export async function describeGguf(path: string): Promise<GgufDescription> {
  const file = await open(path);
  try {
    const reader = new GgufReader(file, (await file.stat()).size);
    const head = await reader.take(Math.min(headBytes, reader.size));
    const problem = headProblem(head);
    if (problem !== undefined) throw new Error(problem);
    const entries = await readEntries(reader, Number(head.readBigUInt64LE(16)));
    await requireWeights(reader, Number(head.readBigUInt64LE(8)), entries.get("general.alignment"));
    return describe(entries);
  } finally {
    await file.close();
  }
}

type Value = string | number | boolean | undefined;
type Entries = ReadonlyMap<string, Value>;

function describe(entries: Entries): GgufDescription {
  const text = (key: string): string | undefined => {
    const value = entries.get(key);
    return typeof value === "string" ? value : undefined;
  };
  const architecture = text("general.architecture");
  const contextLength = entries.get(`${architecture}.context_length`);
  const pooling = entries.get(`${architecture}.pooling_type`);
  return {
    architecture,
    name: text("general.name"),
    contextLength: typeof contextLength === "number" ? contextLength : undefined,
    hasChatTemplate: text("tokenizer.chat_template") !== undefined,
    pooling: typeof pooling === "number" ? poolings[pooling] : undefined,
    isCausal: !isEncoder(architecture) && entries.get(`${architecture}.attention.causal`) !== false,
  };
}

async function readEntries(reader: GgufReader, count: number): Promise<Entries> {
  if (count > mostEntries) throw new Error("its metadata is invalid");
  const entries = new Map<string, Value>();
  for (let index = 0; index < count; index++) {
    const key = await reader.text();
    entries.set(key, await readValue(reader, await reader.uint32()));
  }
  return entries;
}

/** The last tensor begins within the file, unless the file is only the beginning of a model. */
async function requireWeights(reader: GgufReader, tensors: number, alignment: unknown): Promise<void> {
  if (tensors > mostEntries) throw new Error("its metadata is invalid");
  let lastOffset = 0;
  for (let index = 0; index < tensors; index++) {
    await reader.text();
    await reader.skip((await reader.uint32()) * 8 + 4);
    lastOffset = Math.max(lastOffset, await reader.uint64());
  }
  const unit = typeof alignment === "number" && alignment > 0 ? alignment : defaultAlignment;
  const start = Math.ceil(reader.position / unit) * unit;
  if (tensors > 0 && start + lastOffset >= reader.size) throw new Error("it is incomplete: its weights are missing");
}

/** Texts, whole numbers and booleans; undefined for values that nothing here needs. */
async function readValue(reader: GgufReader, type: number): Promise<Value> {
  if (type === textType) return reader.text();
  if (type === uint32Type) return reader.uint32();
  if (type === uint64Type) return reader.uint64();
  if (type === boolType) return (await reader.take(1))[0] !== 0;
  if (type !== arrayType) {
    await reader.skip(sizeOf(type));
    return undefined;
  }
  const elementType = await reader.uint32();
  const length = await reader.uint64();
  if (length > mostElements) throw new Error("its metadata is invalid");
  if (elementType !== textType) await reader.skip(length * sizeOf(elementType));
  else await reader.skipTexts(length);
  return undefined;
}

function sizeOf(type: number): number {
  const size = sizes[type];
  if (size === undefined) throw new Error("its metadata is invalid");
  return size;
}

/** Reads a file from its beginning, a megabyte at a time. */
class GgufReader {
  readonly #file: FileHandle;
  readonly size: number;
  #buffer = Buffer.alloc(0);
  /** Of the first byte in the buffer. */
  #start = 0;
  #next = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  get position(): number {
    return this.#start + this.#next;
  }

  async take(bytes: number): Promise<Buffer> {
    await this.#require(bytes);
    const taken = this.#buffer.subarray(this.#next, this.#next + bytes);
    this.#next += bytes;
    return taken;
  }

  async uint32(): Promise<number> {
    return (await this.take(4)).readUInt32LE();
  }

  async uint64(): Promise<number> {
    return Number((await this.take(8)).readBigUInt64LE());
  }

  async text(): Promise<string> {
    const length = await this.uint64();
    if (length > longestText) throw new Error("its metadata is invalid");
    return (await this.take(length)).toString("utf8");
  }

  async skip(bytes: number): Promise<void> {
    const at = this.position + bytes;
    if (at > this.size) throw new Error("it is incomplete: it ends within its metadata");
    if (this.#next + bytes <= this.#buffer.length) this.#next += bytes;
    else [this.#start, this.#buffer, this.#next] = [at, Buffer.alloc(0), 0];
  }

  /** Vocabularies have hundreds of thousands of texts, so those in the buffer are skipped without waiting for each. */
  async skipTexts(count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      while (left > 0 && this.#skipBufferedText()) left--;
      if (left > 0) await this.skip(await this.uint64());
    }
  }

  #skipBufferedText(): boolean {
    const start = this.#next + 8;
    if (start > this.#buffer.length || this.#buffer.readUInt32LE(this.#next + 4) !== 0) return false;
    const end = start + this.#buffer.readUInt32LE(this.#next);
    if (end > this.#buffer.length) return false;
    this.#next = end;
    return true;
  }

  async #require(bytes: number): Promise<void> {
    if (this.#next + bytes <= this.#buffer.length) return;
    const at = this.position;
    if (at + bytes > this.size) throw new Error("it is incomplete: it ends within its metadata");
    const wanted = Math.min(Math.max(bytes, bytesPerRead), this.size - at);
    const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(wanted), 0, wanted, at);
    if (bytesRead < bytes) throw new Error("it is incomplete: it ends within its metadata");
    [this.#start, this.#buffer, this.#next] = [at, buffer.subarray(0, bytesRead), 0];
  }
}
