/** Text of others, such as a prompt: shown as it is, and clipped until someone asks for all of it. */
import { useSignal } from "@preact/signals";
import { formatCount } from "./format.ts";

/** @param limit characters that are shown at first */
export function ClippedText({ text, limit = 2_000 }: { readonly text: string; readonly limit?: number }) {
  const open = useSignal(false);
  const clipped = text.length > limit && !open.value;
  return (
    <span class="foreign" dir="auto">
      {clipped ? `${text.slice(0, limit)}…` : text}
      {text.length > limit && (
        <>
          {" "}
          <button type="button" class="button quiet small" onClick={() => (open.value = !open.value)}>
            {clipped ? `Show all ${formatCount(text.length)} characters` : "Show less"}
          </button>
        </>
      )}
    </span>
  );
}
