/** What a route can do, and what it is listed for. */
import type { Capability } from "../api/models.ts";
import type { ModelRoute } from "./model-route.ts";

/** What models do, by what a target calls it. */
export const capabilityVerbs: Readonly<Record<Capability, string>> = {
  chat: "support chat completions",
  speech: "synthesize speech",
  transcription: "transcribe",
  embeddings: "embed texts",
};

/** Whether the route may be called for it. */
export function supports(route: ModelRoute | undefined, kind: Capability): boolean {
  return route?.targets.some((target) => target[kind] !== undefined) === true;
}

/** Whether the route is listed for it. */
export function isListedFor(route: ModelRoute | undefined, kind: Capability): boolean {
  return route?.targets.some((target) => target.listedFor.includes(kind)) === true;
}
