/**
 * Computes the keys that connect the spans of one model call, so that it counts once: Sounding's own span and the client
 * spans of the application's instrumentations. They have the response ID in common, or the HTTP request: Sounding's span has
 * it as its parent, the application's as its child. Queries compare these hashes because comparing IDs as text would read
 * several times as much.
 * docs/adr/0035-rollups.md
 */
import { Hash64 } from "./hash64.ts";

const hash = new Hash64();
/** Keep keys of different kinds apart. */
const kinds = { response: 1, span: 2 } as const;

/** Shorter IDs are not unique: Ollama numbers its responses at random, up to 999, and test servers send constants. */
const shortestUniqueId = 20;

/** The key of the response ID; undefined if there is none that identifies the response. */
export function responseKey(id: string): bigint | undefined {
  return id.length < shortestUniqueId ? undefined : hash.reset().add(kinds.response, 0).addText(id).finish().toBigInt();
}

/** A span's place in a request: its bytes, and where its IDs are. */
export interface SpanPlace {
  readonly bytes: Uint8Array;
  readonly traceStart: number;
  readonly traceEnd: number;
  readonly spanStart: number;
  readonly spanEnd: number;
}

/** The key of a span. */
export function spanKey({ bytes, spanEnd, spanStart, traceEnd, traceStart }: SpanPlace): bigint {
  hash.reset().add(kinds.span, 0);
  return hash.addBytes(bytes, traceStart, traceEnd).addBytes(bytes, spanStart, spanEnd).finish().toBigInt();
}

/** The same from the IDs' digits. */
export function spanKeyOfHex(traceId: string, spanId: string): bigint {
  const bytes = Buffer.from(traceId + spanId, "hex");
  const traceEnd = traceId.length / 2;
  return spanKey({ bytes, traceStart: 0, traceEnd, spanStart: traceEnd, spanEnd: bytes.length });
}
