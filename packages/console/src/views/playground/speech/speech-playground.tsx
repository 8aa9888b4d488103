/** The playground for speech models. */
import type { PlaygroundProps } from "../playground-model.ts";

export function SpeechPlayground({ models }: PlaygroundProps) {
  return <p class="muted">{models.map(({ id }) => id).join(", ")}</p>;
}
