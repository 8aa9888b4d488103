/** The chat playground's state and what can be done with it. */
import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { emptyParameters, parameterOf, readParameters, type ChatParameters, type Problems } from "./chat-parameters.ts";
import {
  isRunning,
  messagesOf,
  missesResults,
  type Answer,
  type AttachedImage,
  type ChatBody,
  type Step,
  type Turn,
} from "./conversation.ts";
import { runAnswer, waitingAnswer } from "./run-answer.ts";

export interface ChatSettings {
  /** One, or two that are compared. */
  readonly models: readonly string[];
  readonly system: string;
  readonly parameters: ChatParameters;
}

/** The message that is being written. */
export interface Draft {
  readonly text: string;
  readonly images: readonly AttachedImage[];
}

export interface ChatState {
  readonly settings: ChatSettings;
  readonly draft: Draft;
  readonly turns: readonly Turn[];
}

export interface ChatStore {
  readonly settings: ReadonlySignal<ChatSettings>;
  readonly draft: Signal<Draft>;
  readonly turns: ReadonlySignal<readonly Turn[]>;
  /** What is wrong with the parameters, also in the server's words. */
  readonly problems: ReadonlySignal<Problems>;
  readonly running: ReadonlySignal<boolean>;
  /** The conversation before it was cleared. */
  readonly cleared: ReadonlySignal<readonly Turn[]>;
  /** Everything is read when it is called. */
  snapshot(): ChatState;
  /** Replaces everything. */
  load(state: ChatState): void;
  change(changes: Partial<ChatSettings>): void;
  changeParameters(changes: Partial<ChatParameters>): void;
  /** Sends the draft. Returns whether it was sent. */
  send(): boolean;
  stop(): void;
  /** Asks for the answer again, and forgets what follows it. Returns whether it was sent. */
  regenerate(turn: Turn, column: number, step: Step): boolean;
  /** Changes a message, and asks for its answers again. Returns whether it was sent. */
  edit(turn: Turn, changes: Draft): boolean;
  /** Sends the results of the tools that an answer calls. */
  sendResults(turn: Turn, column: number, results: Readonly<Record<string, string>>): void;
  clear(): void;
  undoClear(): void;
}

/** @param onAnswer called when an answer has ended */
export function createChatStore(state: ChatState, onAnswer: (answer: Signal<Answer>) => void): ChatStore {
  const settings = signal(state.settings);
  const draft = signal(state.draft);
  const turns = signal(state.turns);
  const cleared = signal<readonly Turn[]>([]);
  const refused = signal<Problems>({});
  const reading = computed(() => readParameters(settings.value.parameters));
  const running = computed(() => allSteps(turns.value).some(({ answer }) => isRunning(answer.value)));
  let controller = new AbortController();

  const replace = (turn: Turn): void =>
    void (turns.value = turns.peek().map((each) => (each.id === turn.id ? turn : each)));

  /** The turn as it is now, without those that follow it. */
  const cutAfter = (turn: Turn): Turn | undefined => {
    const index = turns.peek().findIndex(({ id }) => id === turn.id);
    if (index !== -1) turns.value = turns.peek().slice(0, index + 1);
    return turns.peek()[index];
  };

  const isReady = (): boolean => !running.peek() && Object.keys(reading.peek().problems).length === 0;

  const ask = async (turnId: string, column: number): Promise<void> => {
    const { models, system, parameters } = settings.peek();
    const index = turns.peek().findIndex(({ id }) => id === turnId);
    const turn = turns.peek()[index];
    const model = models[column] ?? models[0];
    if (turn === undefined || model === undefined) return;
    const body: ChatBody = {
      model,
      messages: messagesOf(system, turns.peek().slice(0, index + 1), column),
      ...reading.peek().members,
      stream: true,
      stream_options: { include_usage: true },
    };
    const step: Step = { id: crypto.randomUUID(), answer: signal(waitingAnswer(model)), results: {} };
    // A turn keeps the column of a model that is no longer compared.
    const width = Math.max(models.length, column + 1);
    const columns = Array.from({ length: width }, (_, each) => turn.columns[each] ?? []);
    replace({ ...turn, columns: columns.map((steps, each) => (each === column ? [...steps, step] : steps)) });
    // The models that are compared have a conversation each.
    const session = `playground-${turns.peek()[0]!.id}${column === 0 ? "" : `-${column + 1}`}`;
    await runAnswer(step.answer, { body, session, signal: controller.signal });
    const { error } = step.answer.peek();
    const field = parameterOf(error?.param, parameters);
    if (error !== undefined && field !== undefined) refused.value = { ...refused.peek(), [field]: error.message };
    onAnswer(step.answer);
  };

  const askAll = (turnId: string): void => {
    for (const column of settings.peek().models.keys()) void ask(turnId, column);
  };

  const store: ChatStore = {
    settings,
    draft,
    turns,
    cleared,
    running,
    problems: computed(() => ({ ...refused.value, ...reading.value.problems })),
    snapshot: () => ({ settings: settings.peek(), draft: draft.peek(), turns: turns.peek() }),
    load(loaded) {
      store.stop();
      batch(() => {
        const { models } = loaded.settings;
        settings.value = { ...loaded.settings, models: models.length > 0 ? models : settings.peek().models };
        draft.value = loaded.draft;
        turns.value = loaded.turns;
        refused.value = {};
      });
    },
    change: (changes) => void (settings.value = { ...settings.peek(), ...changes }),
    changeParameters(changes) {
      const names = Object.keys(changes);
      refused.value = Object.fromEntries(Object.entries(refused.peek()).filter(([name]) => !names.includes(name)));
      settings.value = { ...settings.peek(), parameters: { ...settings.peek().parameters, ...changes } };
    },
    send() {
      const { text, images } = draft.peek();
      if (!isReady() || (text.trim() === "" && images.length === 0)) return false;
      const turn: Turn = { id: crypto.randomUUID(), text, images, columns: [] };
      turns.value = [...turns.peek(), turn];
      draft.value = { text: "", images: [] };
      cleared.value = [];
      askAll(turn.id);
      return true;
    },
    stop() {
      controller.abort();
      controller = new AbortController();
    },
    regenerate(turn, column, step) {
      if (!isReady()) return false;
      const kept = cutAfter(turn);
      if (kept === undefined) return false;
      const before = (steps: readonly Step[]): readonly Step[] => {
        const index = steps.findIndex(({ id }) => id === step.id);
        return index === -1 ? steps : steps.slice(0, index);
      };
      replace({ ...kept, columns: kept.columns.map((steps, each) => (each === column ? before(steps) : steps)) });
      void ask(turn.id, column);
      return true;
    },
    edit(turn, { text, images }) {
      if (!isReady()) return false;
      const kept = cutAfter(turn);
      if (kept === undefined) return false;
      replace({ ...kept, text, images, columns: [] });
      askAll(turn.id);
      return true;
    },
    sendResults(turn, column, results) {
      if (!isReady()) return;
      const kept = cutAfter(turn);
      const steps = kept?.columns[column] ?? [];
      const last = steps.at(-1);
      if (kept === undefined || last === undefined || !missesResults(last)) return;
      const answered = [...steps.slice(0, -1), { ...last, results: { ...last.results, ...results } }];
      replace({ ...kept, columns: kept.columns.map((each, index) => (index === column ? answered : each)) });
      void ask(turn.id, column);
    },
    clear() {
      store.stop();
      cleared.value = turns.peek();
      turns.value = [];
    },
    undoClear() {
      turns.value = cleared.peek();
      cleared.value = [];
    },
  };
  return store;
}

function allSteps(turns: readonly Turn[]): Step[] {
  return turns.flatMap(({ columns }) => columns.flat());
}

export const emptyState: ChatState = {
  settings: { models: [], system: "", parameters: emptyParameters },
  draft: { text: "", images: [] },
  turns: [],
};
