/**
 * The synchronous transport: a worker thread sends the request while this thread waits. A stream is read chunk by chunk.
 * One worker serves all synchronous clients of a thread, and does not keep the process alive.
 */
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from "node:worker_threads";
import { AbortError, ConfigurationError, ConnectionError } from "./errors.ts";
import { fileSystem } from "./file-system.ts";
import type { Items, StreamDecoder, SyncEventStream, Transform, Transport } from "./mode.ts";
import { checkedApiKey, type ApiKey, type ClientSettings } from "./options.ts";
import { portableBody } from "./portable-body.ts";
import { fromPortableError } from "./portable-error.ts";
import { buildRequest, defaultTimeoutMs, type HttpRequest } from "./request.ts";
import { answerHead, type AnswerHead } from "./response.ts";
import type { PortableHeaders, PortableRequest, SyncOrder, SyncReply, SyncWorkerData } from "./sync-messages.ts";

/** A worker that has not replied this long after the timeout is considered dead. */
const graceMs = 10_000;

interface SyncWorker {
  readonly port: MessagePort;
  readonly counter: Int32Array<SharedArrayBuffer>;
  lastCall: number;
}

/** One call: its number, and the caller's values that cannot leave this thread. */
interface SyncCall {
  readonly call: number;
  readonly apiKey: ApiKey;
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  /** The rest of a file that is sent piece by piece. */
  readonly pieces: Iterator<unknown> | undefined;
}

export function createSyncTransport(settings: ClientSettings): Transport<"sync"> {
  return {
    send(apiRequest, read) {
      const [call, request] = beginCall(buildRequest(apiRequest, settings), settings);
      const reply = ask(call, { kind: "send", call: call.call, request });
      if (reply.kind !== "whole") throw unexpected(reply);
      return read({ head: headOf(reply), bytes: reply.bytes });
    },

    stream(apiRequest, open) {
      const [call, request] = beginCall(buildRequest(apiRequest, settings), settings);
      const reply = ask(call, { kind: "open", call: call.call, request });
      if (reply.kind !== "head") throw unexpected(reply);
      const head = headOf(reply);
      try {
        return eventStream(call, head, open(head));
      } catch (error) {
        post({ kind: "close", call: call.call });
        throw error;
      }
    },

    map: (value, change) => change(value),
    transform: transformed,
    sequence: sequenced,

    writeFile(path, pieces) {
      const files = fileSystem();
      const file = files.openSync(path, "w");
      try {
        for (const piece of pieces) files.writeFileSync(file, piece);
      } finally {
        files.closeSync(file);
      }
    },
  };
}

function* transformed<A, B>(items: Items<"sync", A>, { push, end }: Transform<A, B>): Generator<B, void, void> {
  for (const item of items) yield* push(item);
  yield* end();
}

function* sequenced<T>(next: (last: T | undefined) => T | undefined): Generator<T, void, void> {
  for (let last = next(undefined); last !== undefined; last = next(last)) yield last;
}

let worker: SyncWorker | undefined;

function startedWorker(): SyncWorker {
  if (worker !== undefined) return worker;
  const { port1, port2 } = new MessageChannel();
  const counter = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: SyncWorkerData = { port: port2, counter };
  // In the built package, this file and the worker's are JavaScript.
  const file = import.meta.url.endsWith(".ts") ? "./sync-worker.ts" : "./sync-worker.js";
  const thread = new Worker(new URL(file, import.meta.url), { workerData, transferList: [port2], execArgv: [] });
  thread.unref();
  thread.on("exit", () => (worker = undefined));
  worker = { port: port1, counter, lastCall: 0 };
  return worker;
}

function beginCall({ signal, ...request }: HttpRequest, { apiKey }: ClientSettings): [SyncCall, PortableRequest] {
  if (signal?.aborted === true) throw new AbortError(signal.reason);
  const { body, pieces } = portableBody(request.body);
  const current = startedWorker();
  current.lastCall += 1;
  const limitMs = request.timeoutMs ?? defaultTimeoutMs;
  return [
    { call: current.lastCall, apiKey, signal, limitMs, pieces },
    { ...request, body },
  ];
}

function post(order: SyncOrder): void {
  startedWorker().port.postMessage(order);
}

/** Sends the worker a command and waits for its reply; meanwhile responds to its requests for the key and the file. */
function ask(call: SyncCall, order: SyncOrder): Exclude<SyncReply, { kind: "key" | "piece" | "error" }> {
  post(order);
  let failure: unknown;
  for (;;) {
    const reply = nextReply(call);
    if (reply.kind === "piece") {
      try {
        const next = call.pieces?.next();
        post({ kind: "piece", call: call.call, piece: next?.done === true ? undefined : next?.value });
      } catch (error) {
        failure = new ConfigurationError(`\`file\` cannot be read: ${(error as Error).message}`, error);
        post({ kind: "piece", call: call.call, piece: undefined, failed: true });
      }
    } else if (reply.kind === "key") {
      try {
        post({ kind: "key", call: call.call, key: keyNow(call.apiKey) });
      } catch (error) {
        failure = error;
        post({ kind: "key", call: call.call, key: undefined });
      }
    } else if (reply.kind === "error") {
      throw failure ?? fromPortableError(reply.error);
    } else {
      return reply;
    }
  }
}

/** Replies that arrived while another call was waiting: a function that returns the key may itself make a call. */
const replies = new Map<number, SyncReply[]>();

function nextReply({ call, limitMs }: SyncCall): SyncReply {
  const { port, counter } = startedWorker();
  const untilMs = performance.now() + limitMs + graceMs;
  for (;;) {
    // In this order: a message that arrives after the port was emptied has changed the counter, and ends the wait
    // immediately.
    const seen = Atomics.load(counter, 0);
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      const reply: SyncReply = next.message;
      replies.set(reply.call, [...(replies.get(reply.call) ?? []), reply]);
    }
    const [mine, ...others] = replies.get(call) ?? [];
    if (others.length > 0) replies.set(call, others);
    else replies.delete(call);
    if (mine !== undefined) return mine;
    if (Atomics.wait(counter, 0, seen, Math.max(0, untilMs - performance.now())) === "timed-out") {
      throw new ConnectionError("The worker thread of the synchronous client does not respond.");
    }
  }
}

function keyNow(apiKey: ApiKey): string {
  if (typeof apiKey === "string") return apiKey;
  let key: unknown;
  try {
    key = apiKey();
  } catch (error) {
    throw new ConfigurationError("The function `apiKey` failed.", error);
  }
  if (key instanceof Promise) {
    throw new ConfigurationError(
      "The function `apiKey` returns a promise; the synchronous client needs the key itself.",
    );
  }
  return checkedApiKey(key);
}

function headOf({ status, headers }: { status: number; headers: PortableHeaders }): AnswerHead {
  return answerHead(status, new Headers(headers.map(([name, value]) => [name, value])));
}

function unexpected(reply: SyncReply): Error {
  return new Error(`The worker thread sent an unexpected "${reply.kind}".`);
}

function eventStream<T>(call: SyncCall, head: AnswerHead, decoder: StreamDecoder<T>): SyncEventStream<T> {
  const state = { iterated: false, closed: false };
  return {
    head,
    [Symbol.iterator]() {
      if (state.iterated)
        throw new ConfigurationError("The stream has already been iterated; its events are delivered only once.");
      state.iterated = true;
      return readEvents(call, decoder, state);
    },
    close() {
      if (!state.closed) post({ kind: "close", call: call.call });
      state.closed = true;
    },
  };
}

function* readEvents<T>(
  call: SyncCall,
  decoder: StreamDecoder<T>,
  state: { closed: boolean },
): Generator<T, void, void> {
  let whole = false;
  try {
    while (!decoder.finished && !state.closed) {
      checkSignal(call.signal);
      const reply = ask(call, { kind: "read", call: call.call });
      if (reply.kind !== "bytes") throw unexpected(reply);
      for (const event of reply.bytes === undefined ? decoder.end() : decoder.push(reply.bytes)) {
        yield event;
        if (state.closed) return;
        checkSignal(call.signal);
      }
      if (reply.bytes === undefined) break;
    }
    whole = true;
  } finally {
    if (!state.closed) post({ kind: whole ? "finish" : "close", call: call.call });
    state.closed = true;
  }
}

function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortError(signal.reason);
}
