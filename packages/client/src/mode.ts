/**
 * The mode that the resources are written over: the same code gives promises in the asynchronous client and values in the
 * synchronous one, because only a transport waits.
 */
import type { ApiRequest } from "./request.ts";
import type { AnswerHead, WholeAnswer } from "./response.ts";

export type Mode = "async" | "sync";

/** What an operation returns: a promise of `T`, or `T`. */
export type Out<M extends Mode, T> = M extends "async" ? Promise<T> : T;

/**
 * The events of a streamed answer, as they come; can be iterated once. Leaving the loop, `close()`, the call's signal and
 * its time limit each cancel the request on the server.
 */
export type EventStream<M extends Mode, T> = M extends "async" ? AsyncEventStream<T> : SyncEventStream<T>;

export interface AsyncEventStream<T> extends AsyncIterable<T> {
  /** Status and headers of the answer. */
  readonly head: AnswerHead;
  /** Ends the stream and cancels the request; a loop over it ends without an error. */
  close(): Promise<void>;
}

export interface SyncEventStream<T> extends Iterable<T> {
  /** Status and headers of the answer. */
  readonly head: AnswerHead;
  /** Ends the stream and cancels the request. */
  close(): void;
}

/** Turns the bytes of a stream into events; pure. Errors inside the stream are thrown after the events before them. */
export interface StreamDecoder<T> {
  /** Yields the events that these bytes complete. */
  push(bytes: Uint8Array): Iterable<T>;
  /** Called at the end of the bytes. Throws IncompleteStreamError when the answer is not whole. */
  end(): Iterable<T>;
  /** Whether the stream's own end has been seen; what follows is not read. */
  readonly finished: boolean;
}

/** Sends requests. The only part of the client that waits, and so the only one that exists once per mode. */
export interface Transport<M extends Mode> {
  /** Sends a request, again where that is safe, and reads the whole answer. */
  send<T>(request: ApiRequest, read: (answer: WholeAnswer) => T): Out<M, T>;
  /** Sends a request, again where that is safe until its answer begins, and gives the answer's events. */
  stream<T>(request: ApiRequest, open: (head: AnswerHead) => StreamDecoder<T>): Out<M, EventStream<M, T>>;
}
