/** Where the next message is written, sent and stopped. */
import { Icon } from "../../../design/icons.tsx";
import type { ChatStore } from "./chat-store.ts";
import { MessageEditor } from "./message-editor.tsx";

export function Composer({
  chat,
  onProblems,
}: {
  readonly chat: ChatStore;
  /** Called when the message cannot be sent because of a parameter. */
  readonly onProblems: () => void;
}) {
  const draft = chat.draft.value;
  const running = chat.running.value;
  const wrong = Object.keys(chat.problems.value).length;
  const empty = draft.text.trim() === "" && draft.images.length === 0;
  const send = (): void => {
    if (!chat.send() && !empty && !running) onProblems();
  };
  return (
    <div class="chat-composer">
      <span class="visually-hidden" role="status">
        {running && "The model is answering."}
      </span>
      <MessageEditor
        label="Message"
        placeholder="Write a message…"
        value={draft}
        onChange={(value) => (chat.draft.value = value)}
        onSubmit={send}
        onEscape={() => chat.stop()}
      >
        <span class="small muted chat-keys">{running ? "Esc stops" : "Enter sends, Shift + Enter starts a line"}</span>
        <span class="spread row">
          {wrong > 0 && (
            <button type="button" class="button quiet chat-wrong" onClick={onProblems}>
              <Icon name="warning" />
              {wrong === 1 ? "1 parameter" : `${wrong} parameters`} to correct
            </button>
          )}
          {running ? (
            <button type="button" class="button" onClick={() => chat.stop()}>
              <Icon name="stop" />
              Stop
            </button>
          ) : (
            <button type="button" class="button primary" disabled={empty} onClick={send}>
              <Icon name="send" />
              Send
            </button>
          )}
        </span>
      </MessageEditor>
    </div>
  );
}
