/** The command palette: finds views, models, projects, keys, and a trace by its ID. */
import { useSignal } from "@preact/signals";
import { useQuery } from "../api/use-query.ts";
import { Icon } from "../design/icons.tsx";
import { Dialog } from "../design/dialog.tsx";
import { navigate } from "../state/address.ts";
import type { Session } from "../state/session.ts";
import { findEntries, readNames, type PaletteEntry } from "./palette-entries.ts";

export function Palette({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const text = useSignal("");
  const selected = useSignal(0);
  const names = useQuery((signal) => readNames(session, signal));
  const entries = findEntries(text.value, session, names.data.value ?? []);
  const open = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    onClose();
    navigate(entry.address);
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-label="Views, models, projects, keys, and traces by ID"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={entries[selected.value] && `palette-${selected.value}`}
        placeholder="A view, a model, a project, a key or a trace ID"
        autocomplete="off"
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autofocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          selected.value = 0;
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            selected.value = (selected.value + step + entries.length) % Math.max(1, entries.length);
          } else if (event.key === "Enter") open(entries[selected.value]);
        }}
      />
      <div id="palette-entries" class="palette-entries" role="listbox" aria-label="Results">
        {entries.map((entry, index) => (
          <div
            key={`${entry.kind} ${entry.address}`}
            id={`palette-${index}`}
            class="menu-item"
            role="option"
            aria-selected={index === selected.value}
            onClick={() => open(entry)}
          >
            <Icon name={entry.icon} />
            <span class="clip">{entry.title}</span>
            <span class="small muted spread">{entry.kind}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="muted">Nothing has this name.</p>}
    </Dialog>
  );
}
