/** A button that copies a text, and says so. */
import { useSignal } from "@preact/signals";
import { Icon } from "./icons.tsx";

/** @param text what to copy, or how to get it */
export function CopyButton({
  text,
  label = "Copy",
  iconOnly = false,
}: {
  readonly text: string | (() => string);
  readonly label?: string;
  readonly iconOnly?: boolean;
}) {
  const copied = useSignal(false);
  const copy = async () => {
    copied.value = await copyText(typeof text === "string" ? text : text());
    setTimeout(() => (copied.value = false), 2_000);
  };
  const name = copied.value ? "Copied" : label;
  return (
    <button
      type="button"
      class={`button quiet ${iconOnly ? "icon-only" : ""}`}
      onClick={() => void copy()}
      aria-label={iconOnly ? name : undefined}
      title={iconOnly ? name : undefined}
    >
      <Icon name={copied.value ? "check" : "copy"} />
      {!iconOnly && name}
      <span class="visually-hidden" role="status">
        {copied.value && "Copied"}
      </span>
    </button>
  );
}

/** Browsers offer their clipboard only to pages of HTTPS and of this machine; older means work everywhere. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("readonly", "");
    area.className = "visually-hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
