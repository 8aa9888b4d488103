/** The playground for chat models. */
import type { PlaygroundProps } from "../playground-model.ts";

export function ChatPlayground({ models }: PlaygroundProps) {
  return <p class="muted">{models.map(({ id }) => id).join(", ")}</p>;
}
