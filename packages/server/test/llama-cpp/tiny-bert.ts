/**
 * A tiny BERT as a GGUF file, whose vectors can be predicted: each word of its vocabulary has a dimension of its own, and its
 * one layer adds nothing. The vector of a text is the mean of its tokens, so texts are as similar as the words that they share.
 */
import { writeFile } from "node:fs/promises";
import { encodeGguf, type GgufTensor, type GgufValue } from "../../src/engines/llama-cpp/trial/gguf-writer.ts";

export const words = ["deep", "water", "ship", "harbor", "anchor", "wind", "sail", "rope"];
const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
/** In GGUF, a token at the beginning of a word has this prefix, and others lose their `##`. */
const wordStart = "▁";
export const tokens = [...special, ...words.map((word) => `${wordStart}${word}`), "s"];

/** Length of the vectors. */
export const vectorLength = 32;
const feedForward = 8;
export const contextLength = 300;

export interface TinyBert {
  /** GGUF's number; absent: the file does not say it. */
  readonly pooling?: number | undefined;
  readonly architecture?: string;
  readonly more?: Readonly<Record<string, GgufValue>>;
}

function fill(size: number, value: number): Float32Array {
  return new Float32Array(size).fill(value);
}

function tensors(): GgufTensor[] {
  const size = vectorLength;
  const embeddings = fill(tokens.length * size, 0);
  for (const index of tokens.keys()) embeddings[index * size + index] = 1;
  const vector = (name: string, value: number): GgufTensor => ({ name, shape: [size], data: fill(size, value) });
  const matrix = (name: string, columns: number, rows: number): GgufTensor => ({
    name,
    shape: [columns, rows],
    data: fill(columns * rows, 0),
  });
  return [
    { name: "token_embd.weight", shape: [size, tokens.length], data: embeddings },
    matrix("position_embd.weight", size, contextLength),
    matrix("token_types.weight", size, 2),
    vector("token_embd_norm.weight", 1),
    vector("token_embd_norm.bias", 0),
    matrix("blk.0.attn_q.weight", size, size),
    matrix("blk.0.attn_k.weight", size, size),
    matrix("blk.0.attn_v.weight", size, size),
    matrix("blk.0.attn_output.weight", size, size),
    vector("blk.0.attn_output_norm.weight", 1),
    vector("blk.0.attn_output_norm.bias", 0),
    matrix("blk.0.ffn_up.weight", size, feedForward),
    matrix("blk.0.ffn_down.weight", feedForward, size),
    vector("blk.0.layer_output_norm.weight", 1),
    vector("blk.0.layer_output_norm.bias", 0),
  ];
}

/** The bytes of the model file; mean pooling unless another is asked for. */
export function tinyBertBytes(options: TinyBert = {}): Buffer {
  const { architecture = "bert", more = {} } = options;
  const pooling = "pooling" in options ? options.pooling : 1;
  const uint32 = (value: number): GgufValue => ({ kind: "uint32", value });
  const metadata: Record<string, GgufValue> = {
    "general.architecture": { kind: "string", value: architecture },
    "general.name": { kind: "string", value: "tiny-bert" },
    [`${architecture}.context_length`]: uint32(contextLength),
    [`${architecture}.embedding_length`]: uint32(vectorLength),
    [`${architecture}.block_count`]: uint32(1),
    [`${architecture}.feed_forward_length`]: uint32(feedForward),
    [`${architecture}.attention.head_count`]: uint32(2),
    [`${architecture}.attention.layer_norm_epsilon`]: { kind: "float32", value: 1e-12 },
    [`${architecture}.attention.causal`]: { kind: "bool", value: false },
    ...(pooling === undefined ? {} : { [`${architecture}.pooling_type`]: uint32(pooling) }),
    "tokenizer.ggml.model": { kind: "string", value: "bert" },
    "tokenizer.ggml.pre": { kind: "string", value: "jina-v2-en" },
    "tokenizer.ggml.tokens": { kind: "strings", value: tokens },
    "tokenizer.ggml.token_type": { kind: "int32s", value: tokens.map((_, index) => (index < special.length ? 3 : 1)) },
    "tokenizer.ggml.token_type_count": uint32(2),
    "tokenizer.ggml.padding_token_id": uint32(0),
    "tokenizer.ggml.unknown_token_id": uint32(1),
    "tokenizer.ggml.bos_token_id": uint32(2),
    "tokenizer.ggml.cls_token_id": uint32(2),
    "tokenizer.ggml.eos_token_id": uint32(3),
    "tokenizer.ggml.seperator_token_id": uint32(3),
    "tokenizer.ggml.mask_token_id": uint32(4),
    ...more,
  };
  return encodeGguf(metadata, tensors());
}

export async function writeTinyBert(path: string, options: TinyBert = {}): Promise<string> {
  await writeFile(path, tinyBertBytes(options));
  return path;
}

/** The normalized vector of a text with these tokens, or its beginning. */
export function predictVector(texts: readonly string[], length = vectorLength): Float32Array {
  // Of a vector with a single 1, in which each component is scaled to a mean of 0 and a deviation of 1.
  const mean = 1 / vectorLength;
  const deviation = Math.sqrt(mean * (1 - mean));
  const vector = new Float32Array(vectorLength).fill(-mean / deviation);
  for (const text of texts) vector[tokens.indexOf(text)]! += 1 / deviation / texts.length;
  const kept = vector.slice(0, length);
  const norm = Math.sqrt(kept.reduce((sum, component) => sum + component ** 2, 0));
  return kept.map((component) => component / norm);
}
