/** The playground for transcription models. */
import type { PlaygroundProps } from "../playground-model.ts";

export function TranscriptionPlayground({ models }: PlaygroundProps) {
  return <p class="muted">{models.map(({ id }) => id).join(", ")}</p>;
}
