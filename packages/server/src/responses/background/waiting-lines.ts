/**
 * Lets responses in the background wait for a model that has as many calls as it takes. Those of one organization wait in
 * line: they ask in the order in which they came, one when a response of the model has ended, and one a second.
 */
import { onAbort } from "../../abort.ts";
import type { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";

/** The first of a line asks this often although no response has ended: the model has other callers. */
const askIntervalMs = 1_000;
const longestWaitMs = inputLimit({
  area: "Chat completions",
  bounds: "Time that a response in the background waits while its model has as many calls as it takes",
  value: 3_600_000,
  unit: "ms",
  error: { instead: "the response is failed" },
});

/** Who waits for what. */
export interface LineName {
  readonly model: string;
  readonly organizationId: string;
}

interface Line {
  readonly model: string;
  /** By their numbers. */
  readonly turns: Turn[];
  readonly interval: NodeJS.Timeout;
}

export class WaitingLines {
  /** Those in which a response waits; of those for one model, the first asks next. */
  readonly #lines = new Map<string, Line>();
  #turns = 0;

  turn(name: LineName, signal: AbortSignal): Turn {
    return new Turn({ lines: this, name, signal, number: this.#turns++ });
  }

  isEmpty(name: LineName): boolean {
    return !this.#lines.has(keyOf(name));
  }

  add(turn: Turn): void {
    const key = keyOf(turn.name);
    const line = this.#lines.get(key) ?? this.#open(turn.name);
    const place = line.turns.findLastIndex(({ number }) => number < turn.number);
    line.turns.splice(place + 1, 0, turn);
  }

  #open(name: LineName): Line {
    const interval = setInterval(() => this.#callFirst(keyOf(name)), askIntervalMs).unref();
    const line = { model: name.model, turns: [], interval };
    this.#lines.set(keyOf(name), line);
    return line;
  }

  remove(turn: Turn): void {
    const key = keyOf(turn.name);
    const line = this.#lines.get(key);
    const place = line?.turns.indexOf(turn) ?? -1;
    if (line === undefined || place === -1) return;
    line.turns.splice(place, 1);
    if (line.turns.length > 0) return;
    clearInterval(line.interval);
    this.#lines.delete(key);
  }

  #callFirst(key: string): void {
    const first = this.#lines.get(key)?.turns[0];
    if (first === undefined) return;
    this.remove(first);
    first.call();
  }

  /** A call of the model has ended: one response asks, of each organization in turn. */
  onEnd(model: string): void {
    for (const [key, line] of this.#lines) {
      if (line.model !== model) continue;
      this.#lines.delete(key);
      this.#lines.set(key, line);
      return this.#callFirst(key);
    }
  }
}

interface TurnParts {
  readonly lines: WaitingLines;
  readonly name: LineName;
  readonly signal: AbortSignal;
  readonly number: number;
}

/** One response's turn to ask its model. */
export class Turn {
  readonly name: LineName;
  /** Lower ones ask first. */
  readonly number: number;
  readonly #lines: WaitingLines;
  readonly #signal: AbortSignal;
  #called = Promise.withResolvers<void>();
  #deadline: NodeJS.Timeout | undefined;
  #isLate = false;

  constructor({ lines, name, signal, number }: TurnParts) {
    this.#lines = lines;
    this.name = name;
    this.#signal = signal;
    this.number = number;
  }

  call(): void {
    this.#called.resolve();
  }

  /** Waits behind the responses that came before. Returns early when the signal aborts. */
  async begin(): Promise<void> {
    if (!this.#lines.isEmpty(this.name)) await this.#wait();
  }

  /** Returns when a full model should be asked again, or early when the signal aborts. @throws `refusal` after the longest wait */
  async awaitRoom(refusal: AppError): Promise<void> {
    if (this.#isLate) throw refusal;
    await this.#wait();
  }

  async #wait(): Promise<void> {
    this.#called = Promise.withResolvers();
    this.#deadline ??= setTimeout(() => {
      this.#isLate = true;
      this.call();
    }, longestWaitMs).unref();
    this.#lines.add(this);
    using _listener = onAbort(this.#signal, () => this.call());
    await this.#called.promise;
    this.#lines.remove(this);
  }

  /** The response has ended: another one may have room. */
  end(): void {
    clearTimeout(this.#deadline);
    this.#lines.onEnd(this.name.model);
  }
}

function keyOf({ model, organizationId }: LineName): string {
  return `${organizationId}\n${model}`;
}
