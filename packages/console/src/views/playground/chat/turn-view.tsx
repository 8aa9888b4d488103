/** A message of the user and the answers to it, next to each other if two models are compared. */
import { useComputed, useSignal } from "@preact/signals";
import { ClippedText } from "../../../design/clipped-text.tsx";
import { CopyButton } from "../../../design/copy-button.tsx";
import { Icon } from "../../../design/icons.tsx";
import { AnswerView } from "./answer-view.tsx";
import type { ChatStore, Draft } from "./chat-store.ts";
import type { Turn } from "./conversation.ts";
import { MessageEditor } from "./message-editor.tsx";

interface TurnProps {
  readonly chat: ChatStore;
  readonly turn: Turn;
  /** Whether it is the last one. */
  readonly last: boolean;
  readonly onProblems: () => void;
}

export function TurnView({ chat, turn, last, onProblems }: TurnProps) {
  const busy = chat.running.value;
  return (
    <div class="chat-turn">
      <UserMessage chat={chat} turn={turn} onProblems={onProblems} />
      {turn.columns.some((steps) => steps.length > 0) && (
        <div class={`chat-columns ${turn.columns.length > 1 ? "two" : ""}`}>
          {turn.columns.map((steps, column) => (
            <div key={column} class="chat-column">
              {steps.map((step, index) => (
                <AnswerView
                  key={step.id}
                  step={step}
                  actions={{
                    busy,
                    last: last && index === steps.length - 1,
                    regenerate: () => (chat.regenerate(turn, column, step) ? undefined : onProblems()),
                    sendResults: (results) => chat.sendResults(turn, column, results),
                  }}
                />
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function UserMessage({ chat, turn, onProblems }: Omit<TurnProps, "last">) {
  const edited = useSignal<Draft | undefined>(undefined);
  const busy = useComputed(() => chat.running.value).value;
  const { text, images } = turn;
  if (text === "" && images.length === 0 && edited.value === undefined) return null;
  const run = (draft: Draft): void => {
    if (chat.edit(turn, draft)) edited.value = undefined;
    else if (!busy) onProblems();
  };
  if (edited.value !== undefined) {
    const draft = edited.value;
    return (
      <div class="chat-user editing">
        <MessageEditor
          label="Edit the message"
          value={draft}
          autofocus
          onChange={(value) => (edited.value = value)}
          onSubmit={() => run(draft)}
          onEscape={() => (edited.value = undefined)}
        >
          <span class="spread row">
            <button type="button" class="button" onClick={() => (edited.value = undefined)}>
              Cancel
            </button>
            <button type="button" class="button primary" disabled={busy} onClick={() => run(draft)}>
              Run
            </button>
          </span>
        </MessageEditor>
      </div>
    );
  }
  return (
    <div class="chat-user">
      <div class="chat-bubble">
        {images.length > 0 && (
          <ul class="chat-images" aria-label="Images of the message">
            {images.map(({ name, url }, index) => (
              <li key={index}>
                <img src={url} alt={name} />
              </li>
            ))}
          </ul>
        )}
        <ClippedText text={text} limit={4_000} />
      </div>
      <div class="row chat-actions">
        {text !== "" && <CopyButton text={text} label="Copy the message" iconOnly />}
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Edit the message"
          title="Edit"
          disabled={busy}
          onClick={() => (edited.value = { text, images })}
        >
          <Icon name="edit" />
        </button>
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Run the message again"
          title="Run again"
          disabled={busy}
          onClick={() => run({ text, images })}
        >
          <Icon name="refresh" />
        </button>
      </div>
    </div>
  );
}
