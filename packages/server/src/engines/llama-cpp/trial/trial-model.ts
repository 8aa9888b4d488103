/**
 * The trial model: a GGUF file of under 3 MB that this module computes, so that everything works before any model was
 * downloaded. It is a language of fixed phrases in the shape of a Llama model, and says so when asked anything.
 *
 * How it works: an embedding is one-hot, so the output matrix is a table "which token follows which". One layer of
 * attention looks for two tokens anywhere in the prompt: `<tools>` makes a tool call the likely answer, and
 * `<tool_response>` a closing remark. The feed-forward part is zero. All other tokens have a faint preference that
 * closes JSON strings, objects and arrays soon, so that answers under a grammar end.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { trialChatTemplate } from "./chat-template.ts";
import { encodeGguf, type GgufTensor, type GgufValue } from "./gguf-writer.ts";
import { buildLanguage, type Language } from "./language.ts";

export const trialModelId = "sounding-trial";

/** The model itself, or one of its relatives for tests. */
export type TrialVariant = "honest" | "emoji" | "endless";

const embedding = 512;
const headSize = 64;
const headCount = 2;
/** Dimensions of the embedding that are not tokens: one that is always set, and what the two heads found. */
const constantDimension = embedding - 1;
const foundDimensions = [embedding - 2, embedding - 3];
/** A normalised embedding of two ones has this value in each: sqrt(512 / 2). */
const scale = Math.sqrt(embedding / 2);
/** Places in a head's query and key that rotary embedding leaves alone at this base frequency. */
const headKeys = [60, 62];
const rotaryBase = 1e9;
const sharpness = 20;

function matrix(
  columns: number,
  rows: number,
): { data: Float32Array; set: (row: number, column: number, value: number) => void } {
  const data = new Float32Array(columns * rows);
  return { data, set: (row, column, value) => void (data[row * columns + column] = value) };
}

function attentionTensors(language: Language): GgufTensor[] {
  const query = matrix(embedding, headSize * headCount);
  const key = matrix(embedding, headSize);
  const value = matrix(embedding, headSize);
  const output = matrix(headSize * headCount, embedding);
  language.watched.forEach((token, head) => {
    query.set(head * headSize + headKeys[head]!, constantDimension, sharpness / scale);
    key.set(headKeys[head]!, token, sharpness / scale);
    value.set(head, token, 1 / scale);
    output.set(foundDimensions[head]!, head * headSize + head, 1);
  });
  return [
    { name: "blk.0.attn_q.weight", shape: [embedding, headSize * headCount], data: query.data },
    { name: "blk.0.attn_k.weight", shape: [embedding, headSize], data: key.data },
    { name: "blk.0.attn_v.weight", shape: [embedding, headSize], data: value.data },
    { name: "blk.0.attn_output.weight", shape: [headSize * headCount, embedding], data: output.data },
  ];
}

function vocabularyTensors(language: Language): GgufTensor[] {
  const tokenCount = language.tokens.length;
  const embeddings = matrix(embedding, tokenCount);
  const output = matrix(embedding, tokenCount);
  for (let token = 0; token < tokenCount; token++) {
    embeddings.set(token, token, 1);
    embeddings.set(token, constantDimension, 1);
    output.set(token, constantDimension, language.background[token]! / scale);
  }
  for (const { previous, next, logit } of language.follow) {
    output.set(next, previous, (logit - language.background[next]!) / scale);
  }
  for (const { found, next, logit } of language.whenFound) output.set(next, foundDimensions[found]!, logit / scale);
  return [
    { name: "token_embd.weight", shape: [embedding, tokenCount], data: embeddings.data },
    { name: "output.weight", shape: [embedding, tokenCount], data: output.data },
  ];
}

function tensorsOf(language: Language): GgufTensor[] {
  const feedForward = 32;
  const ones = new Float32Array(embedding).fill(1);
  const zeros = new Float32Array(embedding * feedForward);
  return [
    ...vocabularyTensors(language),
    { name: "output_norm.weight", shape: [embedding], data: ones },
    { name: "blk.0.attn_norm.weight", shape: [embedding], data: ones },
    ...attentionTensors(language),
    { name: "blk.0.ffn_norm.weight", shape: [embedding], data: ones },
    { name: "blk.0.ffn_gate.weight", shape: [embedding, feedForward], data: zeros },
    { name: "blk.0.ffn_up.weight", shape: [embedding, feedForward], data: zeros },
    { name: "blk.0.ffn_down.weight", shape: [feedForward, embedding], data: zeros },
  ];
}

function metadataOf(language: Language): Record<string, GgufValue> {
  const uint32 = (value: number): GgufValue => ({ kind: "uint32", value });
  const string = (value: string): GgufValue => ({ kind: "string", value });
  return {
    "general.architecture": string("llama"),
    "general.name": string(trialModelId),
    "general.description": string("For testing the pipeline; has no knowledge. Generated by Sounding."),
    "general.license": string("apache-2.0"),
    "llama.context_length": uint32(32_768),
    "llama.embedding_length": uint32(embedding),
    "llama.block_count": uint32(1),
    "llama.feed_forward_length": uint32(32),
    "llama.attention.head_count": uint32(headCount),
    "llama.attention.head_count_kv": uint32(1),
    "llama.attention.key_length": uint32(headSize),
    "llama.attention.value_length": uint32(headSize),
    "llama.attention.layer_norm_rms_epsilon": { kind: "float32", value: 1e-6 },
    "llama.rope.dimension_count": uint32(headSize),
    "llama.rope.freq_base": { kind: "float32", value: rotaryBase },
    "llama.vocab_size": uint32(language.tokens.length),
    "tokenizer.ggml.model": string("gpt2"),
    "tokenizer.ggml.pre": string("qwen2"),
    "tokenizer.ggml.tokens": { kind: "strings", value: language.tokens.map(({ text }) => text) },
    "tokenizer.ggml.token_type": { kind: "int32s", value: language.tokens.map(({ type }) => type) },
    "tokenizer.ggml.merges": { kind: "strings", value: language.merges },
    "tokenizer.ggml.eos_token_id": uint32(language.endToken),
    "tokenizer.ggml.add_bos_token": { kind: "bool", value: false },
    "tokenizer.chat_template": string(trialChatTemplate),
  };
}

/** The bytes of the trial model's GGUF file; the same at every call. */
export function trialModelBytes(variant: TrialVariant = "honest"): Buffer {
  const language = buildLanguage(variant);
  if (language.tokens.length > Math.min(...foundDimensions)) {
    throw new Error(`The trial model has ${language.tokens.length} tokens, more than its embedding can hold.`);
  }
  return encodeGguf(metadataOf(language), tensorsOf(language));
}

async function hasContent(path: string, digest: string): Promise<boolean> {
  try {
    return (
      createHash("sha256")
        .update(await readFile(path))
        .digest("hex") === digest
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Makes sure that the trial model is in the directory, whole and of this version, and returns the file's path.
 * Safe to call from several processes at once.
 */
export async function ensureTrialModel(directory: string, variant: TrialVariant = "honest"): Promise<string> {
  const name = variant === "honest" ? trialModelId : `${trialModelId}-${variant}`;
  const path = join(directory, `${name}.gguf`);
  const bytes = trialModelBytes(variant);
  if (await hasContent(path, createHash("sha256").update(bytes).digest("hex"))) return path;
  await mkdir(directory, { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, bytes);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return path;
}
