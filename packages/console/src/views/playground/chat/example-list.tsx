/** What an empty conversation offers. */
import type { ChatStore } from "./chat-store.ts";
import { examples, type Example } from "./examples.ts";

export function ExampleList({ chat }: { readonly chat: ChatStore }) {
  const cleared = chat.cleared.value.length > 0;
  const use = ({ prompt, system, parameters }: Example): void => {
    if (system !== undefined) chat.change({ system });
    if (parameters !== undefined) chat.changeParameters(parameters);
    chat.draft.value = { text: prompt, images: [] };
    chat.send();
  };
  return (
    <div class="chat-empty">
      <h2>{cleared ? "The conversation is cleared" : "Try a model"}</h2>
      {cleared ? (
        <button type="button" class="button" onClick={() => chat.undoClear()}>
          Undo
        </button>
      ) : (
        <p class="muted">Write a message below, or begin with an example.</p>
      )}
      <div class="chat-examples">
        {examples.map((example) => (
          <button key={example.title} type="button" class="chat-example" onClick={() => use(example)}>
            <strong>{example.title}</strong>
            <span class="small muted">{example.description}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
