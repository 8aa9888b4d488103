/** A text that stays in the browser's tab when the page is loaded again. */
import { effect, signal, type Signal } from "@preact/signals";

/** @param name under which the tab keeps it */
export function keptText(name: string, initial: string): Signal<string> {
  const text = signal(read(name) ?? initial);
  effect(() => {
    try {
      sessionStorage.setItem(name, text.value);
    } catch {
      // Storage may be blocked or full; the text then lasts as long as the page.
    }
  });
  return text;
}

function read(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}
