/** Embeds long lists in pieces that an engine takes, a few at a time, in the order of the inputs. */
import type { EmbeddingCall, EmbeddingModel, Embeddings } from "../engines/embedding-model.ts";
import { AppError } from "../errors.ts";

/** Pieces of one call that are on the way at the same time. */
const concurrency = 4;

/** @throws AppError what the engine throws for a piece; the others are cancelled */
export async function embedInPieces(model: EmbeddingModel, call: EmbeddingCall): Promise<Embeddings> {
  const { inputs } = call;
  const count = Math.ceil(inputs.length / model.mostInputs);
  if (count === 1) return checked(await model.embed(call), call);
  const failed = new AbortController();
  const signal = AbortSignal.any([call.signal, failed.signal]);
  const pieces: Embeddings[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const part = inputs.slice(index * model.mostInputs, (index + 1) * model.mostInputs) as typeof inputs;
      const piece = { ...call, inputs: part, signal };
      pieces[index] = checked(await model.embed(piece), piece);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, count) }, work));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
  const tokens = pieces.map((piece) => piece.tokens);
  return {
    vectors: pieces.flatMap(({ vectors }) => vectors),
    tokens: tokens.includes(undefined)
      ? undefined
      : tokens.reduce<number>((sum, pieceTokens) => sum + (pieceTokens ?? 0), 0),
  };
}

/** @throws AppError upstream_failed, or unsupported_parameter for an engine that ignores `dimensions` */
function checked(response: Embeddings, { inputs, dimensions }: EmbeddingCall): Embeddings {
  const { vectors } = response;
  if (vectors.length !== inputs.length) {
    const message = `The engine returned ${vectors.length} vectors for ${inputs.length} inputs.`;
    throw new AppError("upstream_failed", message);
  }
  const other = dimensions === undefined ? undefined : vectors.find(({ length }) => length !== dimensions);
  if (other === undefined) return response;
  throw new AppError(
    "unsupported_parameter",
    `dimensions is ${dimensions}, but the model's vectors have ${other.length} components; omit dimensions.`,
    { param: "dimensions" },
  );
}
