/** Defines the interface of models that embed texts. */
/** Texts on their way to an engine that embeds them. */
export interface EmbeddingCall {
  /** Texts, or texts as tokens of the model; at least one. */
  readonly inputs: readonly string[] | readonly (readonly number[])[];
  /** Length of the vectors; undefined: the model's own. Refused by models that cannot shorten vectors. */
  readonly dimensions: number | undefined;
  /** Members of the request that are not described, for engines that may know them. */
  readonly others: Readonly<Record<string, unknown>>;
  /** Aborted when the client disconnects or the request times out; the engine stops its work at once. */
  readonly signal: AbortSignal;
  readonly requestId?: string | undefined;
  /** As in `ChatCall`. */
  readonly fairnessKey?: string | undefined;
}

export interface Embeddings {
  /** In the order of the inputs. */
  readonly vectors: readonly Float32Array[];
  /** Undefined if the engine tells none. */
  readonly tokens: number | undefined;
}

/** A model that embeds texts. Failures are those of a `ChatModel`. */
export interface EmbeddingModel {
  /** Most inputs of one call. */
  readonly mostInputs: number;
  embed(call: EmbeddingCall): Promise<Embeddings>;
}
