/** Tells what callers of a running server can use now. */
import type { Registry } from "./routing/registry.ts";
import type { Overview } from "./running-app.ts";
import type { Store } from "./store/store.ts";

export function overviewOf(registry: Pick<Registry, "list">, store: Pick<Store, "state">): Overview {
  const list = (capability: keyof Overview["models"]) => registry.list({ allowedModels: undefined }, capability);
  const models = {
    chat: list("chat"),
    speech: list("speech"),
    transcription: list("transcription"),
    embeddings: list("embeddings"),
  };
  return { models, telemetry: store.state() };
}
