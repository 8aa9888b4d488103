/** The settings of every engine type; an engine's `type` says which of them its entry must satisfy. */
import { Type, type Static } from "typebox";

export const engineSettings = Type.Union([]);
export type EngineSettings = Static<typeof engineSettings>;
