/** The list of keyboard shortcuts that work now. */
import { Dialog } from "../design/dialog.tsx";
import { shortcuts } from "./shortcuts.ts";

export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const groups = ["This view", "Everywhere"] as const;
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {groups.map((group) => {
        const list = shortcuts.value.filter((each) => each.group === group);
        return (
          list.length > 0 && (
            <section key={group} class="stack">
              <h3>{group}</h3>
              <table class="table">
                <tbody>
                  {list.map(({ keys, description }) => (
                    <tr key={keys}>
                      <td>{description}</td>
                      <td class="number">
                        {keys.split(" ").map((key) => (
                          <kbd key={key}>{key.replace("mod+", /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl ")}</kbd>
                        ))}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )
        );
      })}
      <p class="small muted">Shortcuts do nothing while you type in a field.</p>
    </Dialog>
  );
}
