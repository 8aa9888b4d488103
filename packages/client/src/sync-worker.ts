/** The worker thread of the synchronous client: runs the asynchronous client while the other thread waits. */
import { workerData } from "node:worker_threads";
import { exchangeOpen, exchangeWhole, type OpenBody, type Sender } from "./exchange.ts";
import { toPortableError } from "./portable-error.ts";
import type { HttpRequest } from "./request.ts";
import type { SyncOrder, SyncReply, SyncWorkerData } from "./sync-messages.ts";

const { port, counter }: SyncWorkerData = workerData;
const bodies = new Map<number, OpenBody>();
const keys = new Map<number, (key: string) => void>();
const pieces = new Map<number, (order: Extract<SyncOrder, { kind: "piece" }>) => void>();

port.on("message", (order: SyncOrder) => {
  obey(order).catch((error: unknown) => reply({ kind: "error", call: order.call, error: toPortableError(error) }));
});

async function obey(order: SyncOrder): Promise<void> {
  const { call } = order;
  switch (order.kind) {
    case "send": {
      const { head, bytes } = await exchangeWhole(requestOf(order), senderOf(call));
      reply({ kind: "whole", call, status: head.status, headers: [...head.headers], bytes });
      return;
    }
    case "open": {
      const body = await exchangeOpen(requestOf(order), senderOf(call));
      bodies.set(call, body);
      reply({ kind: "head", call, status: body.head.status, headers: [...body.head.headers] });
      return;
    }
    case "read":
      // Copied, because `fetch` may return a part of a larger buffer, which would be sent as a whole.
      reply({ kind: "bytes", call, bytes: (await bodies.get(call)?.read())?.slice() });
      return;
    case "close":
      bodies.get(call)?.close();
      bodies.delete(call);
      return;
    case "finish":
      bodies.get(call)?.finish();
      bodies.delete(call);
      return;
    case "key":
      keys.get(call)?.(order.key ?? "");
      keys.delete(call);
      return;
    case "piece":
      pieces.get(call)?.(order);
      pieces.delete(call);
  }
}

function requestOf({ call, request }: Extract<SyncOrder, { kind: "send" | "open" }>): HttpRequest {
  const { body } = request;
  if (typeof body !== "object") return { ...request, body, signal: undefined };
  const { source } = body;
  const given = source.kind === "asked" ? { kind: "pieces" as const, pieces: askForPieces(call) } : source;
  return { ...request, body: { ...body, source: given }, signal: undefined };
}

/** Requests the file from the other thread, piece by piece. */
async function* askForPieces(call: number): AsyncGenerator<unknown, void, void> {
  for (;;) {
    const { piece, failed } = await new Promise<Extract<SyncOrder, { kind: "piece" }>>((resolve) => {
      pieces.set(call, resolve);
      reply({ kind: "piece", call });
    });
    // The other thread knows the reason.
    if (failed === true) throw new Error("the source of the file failed");
    if (piece === undefined) return;
    yield piece;
  }
}

/** Requests the key of each attempt from the other thread. */
function senderOf(call: number): Sender {
  const apiKey = (): Promise<string> =>
    new Promise((resolve) => {
      keys.set(call, resolve);
      reply({ kind: "key", call });
    });
  return { apiKey, fetch: globalThis.fetch };
}

function reply(message: SyncReply): void {
  const { bytes } = message as { bytes?: Uint8Array<ArrayBuffer> };
  port.postMessage(message, bytes === undefined ? [] : [bytes.buffer]);
  Atomics.add(counter, 0, 1);
  Atomics.notify(counter, 0);
}
