/** Presents a route as one model that embeds texts. */
import { AppError } from "../errors.ts";
import type { EmbeddingCall, Embeddings } from "../engines/embedding-model.ts";
import { embedInPieces } from "./embed-in-pieces.ts";
import type { RoutedCall } from "./try-route.ts";
import { routeAnswer, type RoutingOptions } from "./try-routes.ts";

/** A model that embeds texts, independent of where it runs. */
export interface RoutedEmbeddings {
  /** @returns the vectors, and the ID of the model that made them: vectors of two models cannot be compared */
  embed(call: EmbeddingCall & RoutedCall): Promise<Embeddings & { readonly modelId: string }>;
}

export function createRouteEmbeddings(options: RoutingOptions): RoutedEmbeddings {
  return {
    async embed(call) {
      const { value, modelId } = await routeAnswer(options, call, async ({ embeddings, model }) => {
        if (embeddings !== undefined) return embedInPieces(embeddings, call);
        throw new AppError("invalid_request", `The model ${JSON.stringify(model)} does not embed texts.`, {
          param: "model",
        });
      });
      return { ...value, modelId };
    },
  };
}
