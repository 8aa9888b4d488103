/** Connects to the speech service over WebSocket, with its API key and timeouts; closes as soon as the call ends. */
import type { Duplex } from "node:stream";
import { DecoratorHandler, WebSocket, type Agent, type Dispatcher } from "undici";
import { AppError } from "../../errors.ts";
import { createEventQueue } from "../event-queue.ts";
import type { ResponseHeaders } from "../upstream-http/response-reader.ts";
import { abortReason, onAbort } from "../../abort.ts";
import { toTransportError } from "../upstream-http/transport-error.ts";
import { responseError } from "../upstream-http/upstream-error.ts";
import { readMessage, type SpeechMessage } from "./message.ts";

export interface SpeechSocketOptions {
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly agent: Agent;
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the engine refuses the operator's key. */
  onCredentialsRefused(status: number): void;
}

export class SpeechSocket {
  readonly #options: SpeechSocketOptions;
  readonly #socket: WebSocket;
  readonly #messages = createEventQueue<SpeechMessage>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #abortListener: Disposable;
  /** The handshake, while it runs. */
  #handshake: Dispatcher.DispatchController | undefined;
  /** The connection below the WebSocket, once it is open. */
  #connection: Duplex | undefined;
  #receivedCount = 0;
  #isOver = false;

  /** @throws AppError as a call does */
  static async open(options: SpeechSocketOptions): Promise<SpeechSocket> {
    if (options.signal.aborted) throw abortReason(options.signal);
    const socket = new SpeechSocket(options);
    const message = `The engine did not accept a connection within ${options.connectTimeoutMs} ms.`;
    const timer = setTimeout(() => socket.#end(new AppError("upstream_timeout", message)), options.connectTimeoutMs);
    try {
      await socket.#opened.promise;
      return socket;
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(options: SpeechSocketOptions) {
    this.#options = options;
    const { url, headers, agent, signal } = options;
    // Only the handler below learns the status of a failed handshake, and the connection of an open one.
    const dispatcher = agent.compose(
      (dispatch) => (request, handler) => dispatch(request, new HandshakeHandler(handler, this)),
    );
    this.#socket = new WebSocket(url, { dispatcher, headers: pairs(headers) });
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("open", () => this.#opened.resolve());
    this.#socket.addEventListener("message", ({ data }) => this.#receive(data));
    this.#socket.addEventListener("error", ({ error }) => this.#end(toTransportError(error)));
    this.#socket.addEventListener("close", ({ code, reason }) => this.#end(closed(code, reason)));
    this.#abortListener = onAbort(signal, () => this.#end(abortReason(signal)));
    this.#opened.promise.catch(() => {});
  }

  get isOpen(): boolean {
    return !this.#isOver;
  }

  /** Messages so far. */
  get receivedCount(): number {
    return this.#receivedCount;
  }

  send(message: string): void {
    if (!this.#isOver) this.#socket.send(message);
  }

  /** The next message. @throws AppError upstream_timeout, or the reason why the socket ended */
  async next(withinMs: number): Promise<SpeechMessage> {
    const timer = setTimeout(() => {
      this.#end(new AppError("upstream_timeout", `The engine sent nothing for ${Math.round(withinMs)} ms.`));
    }, withinMs);
    try {
      return (await this.#messages.next())!;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes immediately, without a closing handshake: the engine's remaining work is not needed. */
  leave(): void {
    this.#end(new AppError("client_closed", "The connection was abandoned."));
  }

  onHandshake(controller: Dispatcher.DispatchController): void {
    this.#handshake = controller;
    if (this.#isOver) controller.abort(new AppError("client_closed", "The call has already ended."));
  }

  /** Ends here, so that no second attempt is sent with the same key. */
  onRefused(status: number, headers: ResponseHeaders): void {
    if (status === 401 || status === 403) this.#options.onCredentialsRefused(status);
    this.#end(responseError({ status: Math.max(status, 300), headers, text: "" }));
  }

  onFailed(error: Error): void {
    this.#end(toTransportError(error));
  }

  onUpgraded(connection: Duplex): void {
    this.#handshake = undefined;
    this.#connection = connection;
    if (this.#isOver) connection.destroy();
  }

  #receive(data: unknown): void {
    if (this.#isOver) return;
    try {
      this.#receivedCount++;
      this.#messages.push(readMessage(data as string | ArrayBuffer));
    } catch (error) {
      this.#end(error as AppError);
    }
  }

  #end(error: AppError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abortListener[Symbol.dispose]();
    this.#opened.reject(error);
    this.#messages.fail(error);
    // The socket's own end would wait for the engine's goodbye.
    this.#socket.close();
    this.#handshake?.abort(error);
    this.#connection?.destroy();
  }
}

class HandshakeHandler extends DecoratorHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #socket: SpeechSocket;

  constructor(handler: Dispatcher.DispatchHandler, socket: SpeechSocket) {
    super(handler);
    this.#handler = handler;
    this.#socket = socket;
  }

  onRequestStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onRequestStart"]>>): void {
    this.#handler.onRequestStart?.(...args);
    this.#socket.onHandshake(args[0]);
  }

  onRequestUpgrade(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onRequestUpgrade"]>>): void {
    this.#socket.onUpgraded(args[3]);
    this.#handler.onRequestUpgrade?.(...args);
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>): void {
    const [, status, headers] = args;
    this.#handler.onResponseStart?.(...args);
    if (status >= 200) this.#socket.onRefused(status, headers);
  }

  onResponseError(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseError"]>>): void {
    this.#socket.onFailed(args[1]);
    this.#handler.onResponseError?.(...args);
  }
}

function pairs(headers: readonly string[]): [string, string][] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]!] as [string, string]] : []));
}

/** The service closes with a code and its reason. 4429 is its own, like HTTP's 429. */
function closed(code: number, reason: string): AppError {
  const words = reason === "" ? "" : `: ${reason.toWellFormed()}`;
  const cause = new Error(`WebSocket closed with ${code}${words}`);
  if (code === 4429 || /throttled|too many requests/i.test(reason)) {
    return new AppError("rate_limited", "The engine's rate limit is reached. Retry later.", { cause });
  }
  if (code === 1013) return new AppError("overloaded", "The engine is overloaded. Retry later.", { cause });
  if (code === 1007) return new AppError("invalid_request", `The engine refused the request${words}`, { cause });
  return new AppError("upstream_failed", "The engine closed the connection before its response was complete.", {
    cause,
  });
}
