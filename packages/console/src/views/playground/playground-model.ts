/** A model that the playground can call, as `GET /v1/models` lists it. */

export type Capability = "chat" | "speech" | "transcription";

export interface PlaygroundModel {
  readonly id: string;
  readonly owned_by: string;
  readonly capabilities: readonly Capability[];
  readonly engine: string;
  readonly state: "ready" | "not_loaded" | "unavailable";
  /** Why the model is unavailable. */
  readonly state_reason: string | null;
}

/** What each part of the playground gets: the models that it can call, at least one. */
export interface PlaygroundProps {
  readonly models: readonly PlaygroundModel[];
}
