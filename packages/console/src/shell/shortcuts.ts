/** Keyboard shortcuts: a table that views add to while they are shown. Never while someone types in a field. */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Shortcut {
  /** `j`, `Enter`, `?`, `g t` for two keys in a row, `mod+k` for Ctrl or Command. */
  readonly keys: string;
  /** What it does, for the list of shortcuts. */
  readonly description: string;
  readonly group: "Everywhere" | "This view";
  /** Returns false if it does nothing now, so that the browser handles the key. */
  run(event: KeyboardEvent): void | boolean;
}

/** The shortcuts that work now; the latest come first. */
export const shortcuts = signal<readonly Shortcut[]>([]);

/** Adds shortcuts while the component is shown. */
export function useShortcuts(list: () => readonly Shortcut[], inputs: readonly unknown[] = []): void {
  // Before the browser paints: what is seen answers keys.
  useLayoutEffect(() => {
    const added = list();
    shortcuts.value = [...added, ...shortcuts.peek()];
    return () => {
      shortcuts.value = shortcuts.peek().filter((each) => !added.includes(each));
    };
    // oxlint-disable-next-line react/exhaustive-deps
  }, inputs);
}

/** How long the second key of `g t` may take. */
const sequenceTimeoutMs = 1_500;

export function listenToKeys(): void {
  let prefix: { readonly key: string; readonly atMs: number } | undefined;
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const key = keyOf(event);
    const typed =
      prefix !== undefined && event.timeStamp - prefix.atMs < sequenceTimeoutMs ? `${prefix.key} ${key}` : key;
    prefix = undefined;
    if (isTyping(event.target) && !key.startsWith("mod+")) return;
    if (document.querySelector("dialog[open]") !== null && !key.startsWith("mod+")) return;
    const found = shortcuts.value.find(({ keys }) => keys === typed);
    if (found !== undefined && found.run(event) !== false) return event.preventDefault();
    if (shortcuts.value.some(({ keys }) => keys.startsWith(`${key} `))) prefix = { key, atMs: event.timeStamp };
  });
}

function keyOf({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): string {
  if (metaKey || ctrlKey) return `mod+${key.toLowerCase()}`;
  return altKey ? `alt+${key}` : key;
}

/** Whether the key belongs to what has the focus: a field, or a control that Enter and space activate. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
