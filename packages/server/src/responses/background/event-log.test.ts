import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import { EventLog, logBytes } from "./event-log.ts";
import { followEvents } from "./follow-events.ts";
import type { ResponseEventText } from "../../tenancy/event-rows.ts";

const event = (sequence: number, bytes = 10): ResponseEventText => ({ name: "x", data: `${sequence}`.padEnd(bytes) });

/** A store that keeps what it is given. */
function createSource(log: EventLog) {
  const kept: ResponseEventText[] = [];
  return {
    kept,
    write(): void {
      const events = log.unwritten();
      if (events === undefined) return;
      assert.equal(events.first, kept.length);
      kept.push(...events.events);
      log.onWritten(events);
    },
    log: (): EventLog | undefined => log,
    read: async (from: number) =>
      from < kept.length ? { first: from, events: kept.slice(from, from + 3) } : undefined,
    isEnded: async () => log.isEnded,
  };
}

test("followers get every event once and in order, wherever they begin and whenever events are written", async () => {
  const steps = fc.array(fc.constantFrom("add", "add large", "write"), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(20), async (taken, from) => {
      const log = new EventLog();
      const source = createSource(log);
      const { signal } = new AbortController();
      const received: string[] = [];
      const following = (async () => {
        for await (const { data } of followEvents(source, { from, signal, organizationId: "a" }))
          received.push(data.trim());
      })();
      for (const step of taken) {
        if (step === "write") source.write();
        else log.append(event(log.next, step === "add" ? 10 : logBytes / 4));
        if (log.isFull) source.write();
        await Promise.resolve();
      }
      source.write();
      log.end();
      await following;
      const expected = Array.from({ length: Math.max(0, log.next - from) }, (_, index) => String(from + index));
      assert.deepEqual(received, expected);
    }),
    { numRuns: propertyRuns(100) },
  );
});

test("a follower of events that nothing keeps any more fails, and a follower who leaves ends", async () => {
  const log = new EventLog();
  const source = createSource(log);
  for (let index = 0; index < 6; index += 1) log.append(event(index, logBytes / 2));
  const { signal } = new AbortController();
  await assert.rejects(
    followEvents(source, { from: 0, signal, organizationId: "a" }).next(),
    /The event 0 is no longer kept/,
  );
  const leaving = new AbortController();
  const waiting = followEvents(source, { from: 6, signal: leaving.signal, organizationId: "a" }).next();
  leaving.abort(new Error("left"));
  await assert.rejects(waiting, /left/);
});
