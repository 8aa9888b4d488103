/** The playground for chat models: the conversation, and the settings next to it. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Icon } from "../../../design/icons.tsx";
import { Notice } from "../../../design/states.tsx";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import type { PlaygroundModel, PlaygroundProps } from "../playground-model.ts";
import { addCost } from "./answer-cost.ts";
import { followSettings, settingsOfAddress } from "./chat-address.ts";
import { createChatStore, type ChatStore } from "./chat-store.ts";
import { Composer } from "./composer.tsx";
import { ConversationView } from "./conversation-view.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { RecordedCallNotice, useRecordedCall } from "./recorded-call-notice.tsx";
import { SettingsPanel } from "./settings-panel.tsx";
import { storeChat, storedChat } from "./stored-chat.ts";

export function ChatPlayground({ models }: PlaygroundProps) {
  const chat = useChat(models);
  const recorded = useRecordedCall(chat);
  const settingsOpen = useSignal(false);
  const showProblems = (): void => {
    settingsOpen.value = true;
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.chat-settings [aria-invalid="true"]')?.focus());
  };
  useShortcuts(
    () => [
      {
        keys: "Escape",
        description: "Stop the answers",
        group: "This view",
        run: () => (chat.running.peek() ? chat.stop() : false),
      },
      {
        keys: "/",
        description: "Write a message",
        group: "This view",
        run: () => document.querySelector<HTMLElement>(".chat-composer textarea")?.focus(),
      },
    ],
    [chat],
  );
  return (
    <div class={`chat-layout ${settingsOpen.value ? "settings-open" : ""}`}>
      <div class="chat-main">
        <div class="row chat-bar">
          <ModelPicker chat={chat} models={models} />
          <span class="row spread">
            <button
              type="button"
              class="button quiet"
              disabled={chat.turns.value.length === 0}
              onClick={() => chat.clear()}
            >
              Clear
            </button>
            <button
              type="button"
              class="button chat-settings-button"
              aria-expanded={settingsOpen.value}
              onClick={() => (settingsOpen.value = !settingsOpen.value)}
            >
              <Icon name="preferences" />
              Settings
            </button>
          </span>
        </div>
        <UnavailableModels chat={chat} models={models} />
        <RecordedCallNotice progress={recorded} />
        <ConversationView chat={chat} onProblems={showProblems} />
        <Composer chat={chat} onProblems={showProblems} />
      </div>
      <section class="chat-settings" aria-label="Settings of the chat">
        <SettingsPanel chat={chat} />
      </section>
    </div>
  );
}

function UnavailableModels({
  chat,
  models,
}: {
  readonly chat: ChatStore;
  readonly models: readonly PlaygroundModel[];
}) {
  const selected = chat.settings.value.models;
  const unavailable = models.filter(({ id, state }) => state === "unavailable" && selected.includes(id));
  return (
    <>
      {unavailable.map(({ id, state_reason: reason }) => (
        <Notice key={id} kind="warning">
          <span class="foreign">
            {id} is unavailable{reason === null ? "" : `: ${reason}`}
          </span>
        </Notice>
      ))}
    </>
  );
}

/** The state lasts as long as the browser's tab; running answers stop when the view is left. */
function useChat(models: readonly PlaygroundModel[]): ChatStore {
  const { chat, controller } = useMemo(() => {
    const stored = storedChat();
    const settings = settingsOfAddress(stored.settings);
    const first = models.find(({ state }) => state !== "unavailable") ?? models[0]!;
    const leaving = new AbortController();
    const store = createChatStore(
      { ...stored, settings: settings.models.length > 0 ? settings : { ...settings, models: [first.id] } },
      (answer) => {
        storeChat(store.snapshot());
        void addCost(answer, leaving.signal);
      },
    );
    return { chat: store, controller: leaving };
  }, []);
  useEffect(() => {
    const stopFollowing = followSettings(chat);
    const store = (): void => storeChat(chat.snapshot());
    addEventListener("pagehide", store);
    return () => {
      stopFollowing();
      removeEventListener("pagehide", store);
      chat.stop();
      store();
      controller.abort();
    };
  }, [chat, controller]);
  return chat;
}
