/** HTTP routes of embeddings. */
import { createEmbeddings } from "../api/embeddings.ts";
import { route, type Route } from "../http/route.ts";
import { createEmbed, type EmbeddingParts } from "./embed.ts";

export function embeddingRoutes(parts: EmbeddingParts): Route[] {
  return [route(createEmbeddings, createEmbed(parts))];
}
