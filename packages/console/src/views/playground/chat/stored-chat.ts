/** Keeps the chat in this browser tab, so that a reload loses nothing. Bounded: without its largest parts if it is too long. */
import { signal } from "@preact/signals";
import { emptyParameters } from "./chat-parameters.ts";
import { emptyState, type ChatState } from "./chat-store.ts";
import { isRunning, type Answer, type Turn } from "./conversation.ts";

const storageKey = "sounding.playground.chat";
/** Browsers allow about 5 million characters for a site. */
const longestText = 2_000_000;

interface StoredTurn extends Omit<Turn, "columns"> {
  readonly columns: readonly (readonly {
    readonly id: string;
    readonly answer: Answer;
    readonly results: Readonly<Record<string, string>>;
  }[])[];
}

interface StoredChat extends Omit<ChatState, "turns"> {
  readonly turns: readonly StoredTurn[];
}

export function storeChat(state: ChatState): void {
  try {
    sessionStorage.setItem(storageKey, boundedText(state));
  } catch {
    // Storage may be blocked or full; the chat then lasts as long as the page.
  }
}

export function storedChat(): ChatState {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? "null") as StoredChat | null;
    if (stored === null) return emptyState;
    const { settings, draft, turns } = stored;
    return {
      settings: { ...settings, parameters: { ...emptyParameters, ...settings.parameters } },
      draft,
      turns: turns.map((turn) => ({
        ...turn,
        columns: turn.columns.map((steps) => steps.map((step) => ({ ...step, answer: signal(step.answer) }))),
      })),
    };
  } catch {
    return emptyState;
  }
}

/** First the images go, then the oldest turns. */
function boundedText(state: ChatState): string {
  let stored: StoredChat = {
    ...state,
    turns: state.turns.map((turn, index) => toStored(turn, index === state.turns.length - 1)),
  };
  let text = JSON.stringify(stored);
  if (text.length > longestText) {
    stored = {
      settings: stored.settings,
      draft: { ...stored.draft, images: [] },
      turns: stored.turns.map((turn) => ({ ...turn, images: [] })),
    };
    text = JSON.stringify(stored);
  }
  while (text.length > longestText && stored.turns.length > 0) {
    stored = { ...stored, turns: stored.turns.slice(Math.ceil(stored.turns.length / 2)) };
    text = JSON.stringify(stored);
  }
  return text;
}

/**
 * The request of an answer repeats the conversation, so all of them would grow with its square.
 * @param withRequests whether to keep them
 */
function toStored(turn: Turn, withRequests: boolean): StoredTurn {
  const toStoredAnswer = ({ request, ...answer }: Answer): Answer => ({
    ...answer,
    ...(withRequests && request !== undefined ? { request } : {}),
    state: isRunning(answer) ? "stopped" : answer.state,
  });
  return {
    ...turn,
    columns: turn.columns.map((steps) =>
      steps.map(({ id, answer, results }) => ({ id, results, answer: toStoredAnswer(answer.peek()) })),
    ),
  };
}
