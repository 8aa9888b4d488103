/** The models and the short parameters of the chat in the address, which a copied link shows to others. */
import { effect } from "@preact/signals";
import { parameters as address, setParameters, viewPath } from "../../../state/address.ts";
import { addressParameters, emptyParameters, type ChatParameters } from "./chat-parameters.ts";
import type { ChatSettings, ChatStore } from "./chat-store.ts";

/** The stored settings, with those of the address instead if it has any. */
export function settingsOfAddress(stored: ChatSettings): ChatSettings {
  const query = address.peek();
  const models = [query.get("model"), query.get("compare")].filter((id) => id !== null && id !== "") as string[];
  const named = addressParameters.filter((name) => query.has(name));
  const fromAddress: Partial<Record<keyof ChatParameters, string>> = {};
  for (const name of addressParameters) fromAddress[name] = query.get(name) ?? "";
  return {
    ...stored,
    models: models.length > 0 ? models : stored.models,
    parameters: named.length > 0 ? { ...emptyParameters, ...stored.parameters, ...fromAddress } : stored.parameters,
  };
}

/** Browsers refuse more than 200 changes of the address in 30 seconds. */
const settleMs = 300;

/** Keeps the address up to date. @returns how to stop */
export function followSettings(chat: ChatStore): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = effect(() => {
    void address.value;
    const { models, parameters } = chat.settings.value;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (viewPath.peek() !== "chat") return;
      const short = addressParameters.map((name) => [name, parameters[name] || undefined] as const);
      setParameters({ model: models[0], compare: models[1], ...Object.fromEntries(short) }, { replace: true });
    }, settleMs);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
