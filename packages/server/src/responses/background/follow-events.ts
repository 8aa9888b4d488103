/** Replays the events of a response in the background and then follows them, in the process that generates it or in another. */
import { sleep } from "../../abort.ts";
import type { WireEvent } from "../../engines/wire.ts";
import { nextTimeSlice } from "../../scheduling/time-slices.ts";
import { AppError } from "../../errors.ts";
import type { NewEvents } from "../../tenancy/event-rows.ts";
import type { EventLog } from "./event-log.ts";

/** After so many events, others have their turn: very many may follow one response. */
const turnEvents = 32;
/** How often the store is read for what another process writes. */
const pollMs = 500;

export interface EventSource {
  /** The newest events, if this process generates the response. */
  readonly log: () => EventLog | undefined;
  /** Events in the store from this one on, or a later one. */
  readonly read: (from: number) => Promise<NewEvents | undefined>;
  /** Whether the response has ended and everything of it is in the store. @throws AppError not_found once it is deleted */
  readonly isEnded: () => Promise<boolean>;
}

interface FollowOptions {
  /** The sequence number of the first event. */
  readonly from: number;
  readonly signal: AbortSignal;
  readonly organizationId: string;
}

/** @throws AppError not_found for events that are deleted */
export async function* followEvents(
  source: EventSource,
  { from, signal, organizationId }: FollowOptions,
): AsyncGenerator<WireEvent, void, undefined> {
  let next = from;
  for (;;) {
    signal.throwIfAborted();
    const log = source.log();
    const event = log?.at(next);
    if (event !== undefined) {
      next += 1;
      yield event;
      if (next % turnEvents === 0) await nextTimeSlice(organizationId);
    } else if (log !== undefined && next >= log.next) {
      if (log.isEnded) return;
      await log.changed(signal);
      await nextTimeSlice(organizationId);
    } else {
      // Read first: what is written before the response ends is there afterwards.
      const isEnded = log === undefined && (await source.isEnded());
      const stored = await source.read(next);
      if (stored !== undefined && stored.first === next) {
        next += stored.events.length;
        yield* stored.events;
        await nextTimeSlice(organizationId);
      } else if (stored !== undefined || log !== undefined) throw deleted(next);
      else if (isEnded) {
        if (next === from && (await source.read(0)) === undefined) throw deleted(next);
        return;
      } else await sleep(pollMs, signal);
    }
  }
}

function deleted(sequence: number): AppError {
  const message = `The event ${sequence} is no longer kept; read the response without stream, or later events with starting_after.`;
  return new AppError("not_found", message, { param: "starting_after" });
}
