/** Says what a GGUF model is for: by its architecture, and by how it turns the vectors of a text's tokens into one. */

/** By their numbers in GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
export const poolings = ["none", "mean", "cls", "last", "rank"] as const;
export type Pooling = (typeof poolings)[number];

export type GgufPurpose = "chat" | "embeddings" | "ranking";

/** Architectures that cannot generate text; in all of them, a token sees the tokens after it. */
const encoders = new Set([
  "bert",
  "eurobert",
  "gemma-embedding",
  "jina-bert-v2",
  "jina-bert-v3",
  "llama-embed",
  "modern-bert",
  "neo-bert",
  "nomic-bert",
  "nomic-bert-moe",
  "t5encoder",
]);

/** What the metadata of a file say. */
interface Model {
  readonly architecture: string | undefined;
  readonly pooling: Pooling | undefined;
}

export function isEncoder(architecture: string | undefined): boolean {
  return architecture !== undefined && encoders.has(architecture);
}

/** @param embeds whether the configuration says that the model embeds */
export function purposeOf(model: Model, embeds = false): GgufPurpose {
  if (embeds) return "embeddings";
  const { pooling = "none" } = model;
  if (pooling === "rank") return "ranking";
  return pooling !== "none" || isEncoder(model.architecture) ? "embeddings" : "chat";
}

/**
 * Why a model cannot embed texts; undefined if it can.
 * @param pooling of the configuration; absent: the file's
 */
export function embeddingProblem({ pooling: ofFile = "none" }: Model, pooling: Pooling = ofFile): string | undefined {
  if (pooling === "rank") return "it ranks documents, which is not supported";
  if (pooling !== "none") return undefined;
  return "its metadata does not say how the vectors of its tokens become one; to use it, configure it with `embeddings.pooling` in an engine of type llama_cpp";
}
