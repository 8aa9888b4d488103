/** Links that open the playground with a model. */
import { Icon } from "../../design/icons.tsx";
import { href } from "../../state/address.ts";
import type { Capability } from "./model-rows.ts";

/** Parts of the playground. */
const names: Readonly<Partial<Record<Capability, string>>> = {
  chat: "Chat",
  speech: "Speak",
  transcription: "Transcribe",
};

export function TryLinks({
  id,
  capabilities,
  quiet = false,
}: {
  readonly id: string;
  readonly capabilities: readonly Capability[];
  readonly quiet?: boolean;
}) {
  return (
    <span class="row models-try">
      {capabilities.map((capability) => {
        const name = names[capability];
        if (name === undefined) return null;
        return (
          <a
            key={capability}
            class={`button ${quiet ? "quiet" : ""}`}
            href={href(`playground/${capability}`, { model: id })}
            aria-label={`${name} with ${id} in the playground`}
          >
            {!quiet && <Icon name="playground" />}
            {name}
          </a>
        );
      })}
    </span>
  );
}
