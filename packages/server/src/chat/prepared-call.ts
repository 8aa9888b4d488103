/** One prepared chat call on its way to a model. */
import type { ChatUsage } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import type { AbortSource } from "../cancellation.ts";
import type { Attempt, ChatCall } from "../engines/engine.ts";
import type { RouteInput } from "../http/route.ts";
import type { RoutedCall } from "../routing/try-route.ts";

/** Learns what becomes of a call. */
export interface CallObserver {
  readonly attempts: Attempt[];
  onUnused(usage: ChatUsage): void;
}

export class PreparedCall implements ChatCall {
  readonly request: ChatRequest;
  readonly changes: ChatCall["changes"];
  readonly bytes: Buffer;
  readonly requestId: string;
  readonly fairnessKey: string;
  readonly cancellation: AbortSource;
  readonly restoreTexts: ChatCall["restoreTexts"];
  readonly awaitRoom: RoutedCall["awaitRoom"];
  readonly #input: Pick<RouteInput<ChatRequest>, "signal">;
  readonly #observer: CallObserver;

  constructor(
    { request, changes }: Pick<ChatCall, "request" | "changes">,
    input: Pick<RouteInput<ChatRequest>, "bytes" | "texts" | "requestId" | "scope" | "cancellation" | "signal"> &
      Pick<RoutedCall, "awaitRoom">,
    observer: CallObserver,
  ) {
    this.request = request;
    this.changes = changes;
    this.bytes = input.bytes;
    this.requestId = input.requestId;
    this.fairnessKey = input.scope.organizationId;
    this.cancellation = input.cancellation;
    const { texts } = input;
    this.restoreTexts = texts === undefined ? undefined : () => texts.restore();
    this.awaitRoom = input.awaitRoom;
    this.#input = input;
    this.#observer = observer;
  }

  get signal(): AbortSignal {
    return this.#input.signal;
  }

  onAttempt(attempt: Attempt): void {
    this.#observer.attempts.push(attempt);
  }

  onUnused(usage: ChatUsage): void {
    this.#observer.onUnused(usage);
  }
}
