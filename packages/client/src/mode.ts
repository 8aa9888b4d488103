/**
 * The modes of the resources: the same code returns promises in the asynchronous client and values in the synchronous
 * one, because only the transport waits.
 * docs/adr/0028-client-command-and-pages.md
 */
import type { ApiRequest } from "./request.ts";
import type { AnswerHead, WholeAnswer } from "./response.ts";

export type Mode = "async" | "sync";

/** What an operation returns: a promise of `T`, or `T`. */
export type Out<M extends Mode, T> = M extends "async" ? Promise<T> : T;

/**
 * The events of a streamed response, as they arrive; can be iterated once. Leaving the loop, `close()`, the call's
 * signal and its timeout each cancel the request on the server.
 */
export type EventStream<M extends Mode, T> = M extends "async" ? AsyncEventStream<T> : SyncEventStream<T>;

export interface AsyncEventStream<T> extends AsyncIterable<T> {
  /** Status and headers of the response. */
  readonly head: AnswerHead;
  /** Ends the stream and cancels the request; a loop over it ends without an error. */
  close(): Promise<void>;
}

export interface SyncEventStream<T> extends Iterable<T> {
  /** Status and headers of the response. */
  readonly head: AnswerHead;
  /** Ends the stream and cancels the request. */
  close(): void;
}

/** A sequence of items; an asynchronous client accepts both kinds. */
export type Items<M extends Mode, T> = M extends "async" ? AsyncIterable<T> | Iterable<T> : Iterable<T>;

/** The type of transformed items. */
export type Iteration<M extends Mode, T> = M extends "async" ? AsyncIterable<T> : Iterable<T>;

/** Transforms items; pure. */
export interface Transform<In, Out> {
  /** Yields the items that this item completes. */
  push(item: In): Iterable<Out>;
  /** Called after the last item. */
  end(): Iterable<Out>;
}

/**
 * Decodes the bytes of a stream into events; pure. Errors inside the stream are thrown after the events before them,
 * and `end` throws IncompleteStreamError if the response is incomplete.
 */
export interface StreamDecoder<T> extends Transform<Uint8Array, T> {
  /** Whether the stream's own end marker has been seen; anything after it is not read. */
  readonly finished: boolean;
}

/**
 * Sends requests and writes files. The only part of the client that waits, and therefore the only one that exists once
 * per mode.
 */
export interface Transport<M extends Mode> {
  /** Sends a request, retries if that is safe, and reads the complete response. */
  send<T>(request: ApiRequest, read: (answer: WholeAnswer) => T): Out<M, T>;
  /** Sends a request, retries if that is safe until its response starts, and returns the response's events. */
  stream<T>(request: ApiRequest, open: (head: AnswerHead) => StreamDecoder<T>): Out<M, EventStream<M, T>>;
  /** Applies `change` to what an operation returns. */
  map<A, B>(value: Out<M, A>, change: (value: A) => B): Out<M, B>;
  /** The items that `transform` produces; leaving the loop over them ends the loop over `items`. */
  transform<A, B>(items: Items<M, A>, transform: Transform<A, B>): Iteration<M, B>;
  /**
   * The results of several requests, each sent when the loop over them needs it. `next` gets the result before and
   * returns undefined after the last one.
   */
  sequence<T>(next: (last: T | undefined) => Out<M, T> | undefined): Iteration<M, T>;
  /**
   * Writes pieces to a new file, or replaces an existing one, as they arrive. Throws ConfigurationError in browsers.
   */
  writeFile(path: string | URL, pieces: Items<M, Uint8Array>): Out<M, void>;
}
