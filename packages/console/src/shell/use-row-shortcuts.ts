/** `j` and `k` move the focus between the rows of a table; the focused link opens with Enter. */
import type { RefObject } from "preact";
import { useShortcuts } from "./shortcuts.ts";

/** @param table the element with the rows; each row has one element with the attribute `data-row` that takes the focus */
export function useRowShortcuts(table: RefObject<HTMLElement | null>): void {
  const move = (step: 1 | -1): boolean => {
    const rows = [...(table.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    if (rows.length === 0) return false;
    const current = rows.indexOf(document.activeElement as HTMLElement);
    const next = current < 0 ? (step === 1 ? 0 : rows.length - 1) : current + step;
    rows[Math.max(0, Math.min(next, rows.length - 1))]!.focus();
    return true;
  };
  useShortcuts(() => [
    { keys: "j", description: "Go to the next row", group: "This view", run: () => move(1) },
    { keys: "k", description: "Go to the previous row", group: "This view", run: () => move(-1) },
  ]);
}
