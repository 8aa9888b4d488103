/** Links that open the playground with a model. */
import { Icon } from "../../design/icons.tsx";
import { href } from "../../state/address.ts";
import type { Capability } from "./model-rows.ts";

const names = { chat: "Chat", speech: "Speak", transcription: "Transcribe" } as const satisfies Record<
  Capability,
  string
>;

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
      {capabilities.map((capability) => (
        <a
          key={capability}
          class={`button ${quiet ? "quiet" : ""}`}
          href={href(`playground/${capability}`, { model: id })}
          aria-label={`${names[capability]} with ${id} in the playground`}
        >
          {!quiet && <Icon name="playground" />}
          {names[capability]}
        </a>
      ))}
    </span>
  );
}
