/** The conversation, which follows the newest text until someone scrolls up. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../../design/icons.tsx";
import type { ChatStore } from "./chat-store.ts";
import { ExampleList } from "./example-list.tsx";
import { TurnView } from "./turn-view.tsx";

/** Pixels from the end that still count as the end. */
const nearEnd = 48;

export function ConversationView({ chat, onProblems }: { readonly chat: ChatStore; readonly onProblems: () => void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useSignal(true);
  const lastTop = useRef(0);
  const toEnd = (): void => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  useEffect(() => {
    const observer = new ResizeObserver(() => follows.peek() && toEnd());
    observer.observe(content.current!);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  const turns = chat.turns.value;
  // A new message is always shown.
  useEffect(() => {
    follows.value = true;
    toEnd();
  }, [turns.length]);
  return (
    <div class="chat-conversation">
      <div
        ref={scroller}
        class="chat-scroller"
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          // The text may have grown since it was scrolled to its end, so only moving up counts as leaving it.
          if (scrollHeight - scrollTop - clientHeight < nearEnd) follows.value = true;
          else if (scrollTop < lastTop.current) follows.value = false;
          lastTop.current = scrollTop;
        }}
      >
        <div ref={content} class="chat-turns">
          {turns.length === 0 && <ExampleList chat={chat} />}
          {turns.map((turn, index) => (
            <TurnView key={turn.id} chat={chat} turn={turn} last={index === turns.length - 1} onProblems={onProblems} />
          ))}
        </div>
      </div>
      {!follows.value && (
        <button
          type="button"
          class="button chat-to-end"
          onClick={() => {
            follows.value = true;
            toEnd();
          }}
        >
          <Icon name="down" />
          Latest
        </button>
      )}
    </div>
  );
}
