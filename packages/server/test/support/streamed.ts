/** Streams of scripted upstreams, cut anywhere. */
import type { Script } from "./scripted-upstream.ts";

/** Answers with a whole stream of events, each piece as a separate TCP segment. */
export function streamed(...pieces: readonly (string | Uint8Array)[]): Script {
  return async (exchange) => {
    exchange.beginEvents();
    await exchange.drip(pieces);
    exchange.end();
  };
}

/** The bytes of a text, in pieces of at most `size` bytes. */
export function piecesOf(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/** Answers with a whole stream of events, and ends it once its client has read them. */
export function endedLate(events: string, isRead: () => Promise<void>): Script {
  return async (exchange) => {
    exchange.beginEvents();
    await exchange.send(events);
    await isRead();
    exchange.end();
    await exchange.closed;
  };
}
