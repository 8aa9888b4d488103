/** Requests and notices between two processes over Node's IPC channel, typed by a protocol. */
import type { Socket } from "node:net";
import { AppError, type ErrorCode } from "../errors.ts";

/** The messages that one side may send: what each carries, and what it is answered with. */
export type Protocol<Names> = { readonly [Name in keyof Names]: { readonly data: unknown; readonly reply: unknown } };

export interface Transport {
  send(message: object): void;
  sendSocket(message: object, socket: Socket): void;
  listen(listener: (message: never, socket?: Socket) => void): void;
}

/** The other process ended, or was never there. */
export class ProcessEndedError extends Error {
  override readonly name = "ProcessEndedError";
}

/** An error as it is sent; only AppErrors keep their code. */
interface WireError {
  readonly message: string;
  readonly code?: ErrorCode;
  readonly param?: string | null;
  readonly retryAfterMs?: number | undefined;
}

type Message =
  | { readonly kind: "request"; readonly id: number | undefined; readonly name: string; readonly data: unknown }
  | { readonly kind: "reply"; readonly id: number; readonly data: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly error: WireError };

type Handler = (data: never, socket: Socket | undefined) => unknown;

export class Channel<Out extends Protocol<Out>, In extends Protocol<In>> {
  readonly #transport: Transport;
  readonly #handlers = new Map<string, Handler>();
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #isClosed = false;

  constructor(transport: Transport) {
    this.#transport = transport;
    transport.listen((message, socket) => this.#receive(message, socket));
  }

  /** @throws AppError of the other process; ProcessEndedError */
  async request<Name extends keyof Out & string>(name: Name, data: Out[Name]["data"]): Promise<Out[Name]["reply"]> {
    if (this.#isClosed) throw new ProcessEndedError("The process has ended.");
    const id = (this.#lastId += 1);
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    this.#send({ kind: "request", id, name, data });
    return pending.promise;
  }

  /** Sends a message that is not answered. */
  notify<Name extends keyof Out & string>(name: Name, data: Out[Name]["data"]): void {
    if (!this.#isClosed) this.#send({ kind: "request", id: undefined, name, data });
  }

  /** Like `notify`, with a connection, which stays open in this process. */
  hand<Name extends keyof Out & string>(name: Name, data: Out[Name]["data"], socket: Socket): void {
    const message: Message = { kind: "request", id: undefined, name, data };
    if (!this.#isClosed) this.#transport.sendSocket(message, socket);
  }

  /** Sets what happens with messages of this name. */
  on<Name extends keyof In & string>(
    name: Name,
    handler: (
      data: In[Name]["data"],
      socket: Socket | undefined,
    ) => In[Name]["reply"] | Promise<In[Name]["reply"]> | void,
  ): void {
    this.#handlers.set(name, handler);
  }

  /** Ends all requests that wait, because the other process has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(new ProcessEndedError("The process has ended."));
    this.#pending.clear();
  }

  #send(message: Message): void {
    this.#transport.send(message);
  }

  #receive(message: Message, socket: Socket | undefined): void {
    if (message.kind === "request") return void this.#answer(message, socket);
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === "reply") pending?.resolve(message.data);
    else pending?.reject(fromWire(message.error));
  }

  async #answer({ id, name, data }: Message & { kind: "request" }, socket: Socket | undefined): Promise<void> {
    try {
      const handler = this.#handlers.get(name);
      // A notice to a process that does not need it yet.
      if (handler === undefined && id === undefined) return;
      if (handler === undefined) throw new Error(`This process does not answer ${name}.`);
      const reply = await handler(data as never, socket);
      if (id !== undefined) this.#send({ kind: "reply", id, data: reply });
    } catch (error) {
      if (id === undefined) throw error;
      this.#send({ kind: "failure", id, error: toWire(error) });
    }
  }
}

function toWire(error: unknown): WireError {
  if (error instanceof AppError) {
    const { code, message, param, retryAfterMs } = error;
    return { code, message, param, retryAfterMs };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}

function fromWire({ code, message, param, retryAfterMs }: WireError): Error {
  return code === undefined
    ? new Error(message)
    : new AppError(code, message, { param: param ?? undefined, retryAfterMs });
}
