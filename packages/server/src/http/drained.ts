/** Back-pressure of a slow client. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";

/** Waits until the client has read what it was sent. A client that leaves ends the wait by the signal. */
export async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, "drain", { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
