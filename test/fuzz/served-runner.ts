/**
 * Sends inputs to a server in its own process, several at a time, and finds the ones that blocked or killed it: what
 * was in flight at that moment is sent again, one input at a time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Courier, type Delivery } from "./deliver.ts";
import { startFuzzedServer, type FuzzedServer } from "./fuzzed-server.ts";
import type { Hold } from "./loop-probe.ts";
import { Neighbor, type NeighborReport } from "./neighbor.ts";
import { Random } from "./random.ts";
import { Tally } from "./tally.ts";
import type { ServedTarget } from "./target.ts";

export interface ServedOptions {
  readonly seed: number;
  readonly holdMs: number;
  /** Concurrent inputs. */
  readonly concurrency: number;
}

export interface ServerReport {
  readonly neighbor: NeighborReport;
  /** Bytes in use by heap and buffers: before the first input and after the last, each after a full collection. */
  readonly usedBefore: number;
  readonly usedAfter: number;
  readonly rssBefore: number;
  readonly rssAfter: number;
  readonly rssPeak: number;
  readonly restarts: number;
  /** CPU milliseconds of the longest hold, including garbage collection. */
  readonly longestHoldMs: number;
  /** Lines that the server logged about its internal errors. */
  readonly faultLines: readonly string[];
}

/** When an input was in flight. Times are milliseconds since 1970. */
interface Sent {
  readonly index: number;
  readonly startMs: number;
  endMs: number;
}

/** How many inputs are sent again for one target, worst holds first; bounds the time. */
const mostReplays = 24;
const replayRounds = 3;
/** Until the probe has reported a hold. */
const probeDelayMs = 40;
const nowMs = (): number => performance.timeOrigin + performance.now();

export class ServedRunner implements AsyncDisposable {
  readonly #options: ServedOptions;
  readonly #neighbor = new Neighbor();
  #server: FuzzedServer | undefined;
  #leaving = new AbortController();
  #restarts = -1;
  #memory: { readonly used: number; readonly rss: number } | undefined;
  #rssPeak = 0;
  #longestHoldMs = 0;
  #log = "";

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  /** Runs inputs from `from` until the time is up or `most` were run. */
  async run(
    target: ServedTarget,
    limits: { readonly from: number; readonly most: number; readonly ms: number },
  ): Promise<Tally> {
    const tally = new Tally(target.name);
    await target.prepare?.();
    await this.#ready();
    const startMs = Date.now();
    const end = { index: limits.from + limits.most, ms: startMs + limits.ms };
    let next = limits.from;
    while (next < end.index && Date.now() < end.ms) next = await this.#runOnServer(target, tally, { from: next, end });
    tally.elapsedMs = Date.now() - startMs;
    return tally;
  }

  /** Sends one input alone. */
  async replay(target: ServedTarget, input: Uint8Array): Promise<Tally> {
    const tally = new Tally(target.name);
    const { delivery, holdMs } = await this.#alone(target, input);
    tally.inputs = 1;
    tally.count(delivery.outcome);
    tally.hold(holdMs, 0);
    const late = holdMs > this.#options.holdMs ? `held the server for ${holdMs.toFixed(0)} ms of CPU` : undefined;
    const what = delivery.fault ?? late;
    if (what !== undefined) tally.findings.push({ target: target.name, index: undefined, input, what });
    return tally;
  }

  async report(): Promise<ServerReport> {
    const server = await this.#ready();
    // Work that waits for the store or for a timer has finished by then.
    await sleep(1000);
    const after = await server.memory();
    const faultLines = (this.#log + server.stderr)
      .split("\n")
      .filter((line) => line.includes("internal error") || line.includes("Error"));
    return {
      neighbor: this.#neighbor.report(),
      usedBefore: this.#memory?.used ?? 0,
      usedAfter: after.used,
      rssBefore: this.#memory?.rss ?? 0,
      rssAfter: after.rss,
      rssPeak: Math.max(this.#rssPeak, server.peakRss),
      restarts: this.#restarts,
      longestHoldMs: Math.max(this.#longestHoldMs, server.longestHoldMs),
      faultLines,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leaving.abort();
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  /** A running server, with the other organization at work on it. */
  async #ready(): Promise<FuzzedServer> {
    if (this.#server !== undefined && this.#server.fate === undefined) return this.#server;
    if (this.#server !== undefined) {
      this.#rssPeak = Math.max(this.#rssPeak, this.#server.peakRss);
      this.#longestHoldMs = Math.max(this.#longestHoldMs, this.#server.longestHoldMs);
      this.#log += this.#server.stderr;
    }
    await this[Symbol.asyncDispose]();
    this.#leaving = new AbortController();
    this.#restarts += 1;
    const server = await startFuzzedServer(this.#options.holdMs);
    this.#server = server;
    await warmUp(server);
    this.#memory = await server.memory();
    void this.#neighbor.call(server, this.#leaving.signal);
    return server;
  }

  /** Until the end, or until the server has died. @returns the next index */
  async #runOnServer(
    target: ServedTarget,
    tally: Tally,
    { from, end }: { readonly from: number; readonly end: { readonly index: number; readonly ms: number } },
  ): Promise<number> {
    const server = await this.#ready();
    const holdsBefore = server.holds.length;
    const sent: Sent[] = [];
    const underWay = new Map<number, Sent>();
    let next = from;
    const work = async (): Promise<void> => {
      const courier = new Courier(server);
      while (next < end.index && Date.now() < end.ms && server.fate === undefined) {
        const index = next;
        next += 1;
        const entry: Sent = { index, startMs: nowMs(), endMs: Infinity };
        underWay.set(index, entry);
        sent.push(entry);
        const input = this.#input(target, index);
        const delivery = await courier.deliver(target, input);
        // When the server dies, its connections break before its end is noticed.
        if (delivery.fault !== undefined) await sleep(probeDelayMs);
        if (server.fate !== undefined) break;
        underWay.delete(index);
        entry.endMs = nowMs();
        tally.inputs += 1;
        tally.count(delivery.outcome);
        tally.time(entry.endMs - entry.startMs, index);
        if (delivery.fault !== undefined)
          tally.findings.push({ target: target.name, index, input, what: delivery.fault });
      }
      courier.close();
    };
    await Promise.race([Promise.all(Array.from({ length: this.#options.concurrency }, work)), server.over]);
    await sleep(probeDelayMs);
    if (server.fate !== undefined)
      await this.#findKiller(target, tally, { fate: server.fate, suspects: [...underWay.keys()] });
    else await this.#findHolders(target, tally, { holds: server.holds.slice(holdsBefore), sent });
    return next;
  }

  async #findKiller(
    target: ServedTarget,
    tally: Tally,
    { fate, suspects }: { readonly fate: string; readonly suspects: readonly number[] },
  ): Promise<void> {
    tally.inputs += suspects.length;
    tally.count("server lost", suspects.length);
    const before = tally.findings.length;
    for (const index of suspects) {
      const server = await this.#ready();
      const courier = new Courier(server);
      const input = this.#input(target, index);
      await Promise.race([courier.deliver(target, input), server.over]);
      courier.close();
      await sleep(probeDelayMs);
      if (server.fate !== undefined) tally.findings.push({ target: target.name, index, input, what: server.fate });
    }
    if (tally.findings.length > before) return;
    const input = this.#input(target, suspects[0] ?? 0);
    const what = `${fate}; none of the inputs ${suspects.join(", ")} does it alone`;
    tally.findings.push({ target: target.name, index: suspects[0], input, what });
  }

  async #findHolders(
    target: ServedTarget,
    tally: Tally,
    { holds, sent }: { readonly holds: readonly Hold[]; readonly sent: readonly Sent[] },
  ): Promise<void> {
    const tried = new Set<number>();
    for (const hold of holds.toSorted((a, b) => b.cpuMs - a.cpuMs)) {
      const suspects = sent.filter(({ startMs, endMs }) => startMs < hold.endMs && endMs > hold.startMs);
      const largest = suspects.filter(({ index }) => !tried.has(index)).map(({ index }) => index);
      let isFound = suspects.some(({ index }) => tally.findings.some((finding) => finding.index === index));
      for (const index of largest) {
        if (isFound || tried.size >= mostReplays) break;
        tried.add(index);
        const input = this.#input(target, index);
        const { holdMs } = await this.#alone(target, input);
        tally.hold(holdMs, index);
        if (holdMs <= this.#options.holdMs) continue;
        isFound = true;
        tally.findings.push({
          target: target.name,
          index,
          input,
          what: `held the server for ${holdMs.toFixed(0)} ms of CPU`,
        });
      }
      if (!isFound) tally.unconfirmedHolds += 1;
    }
  }

  /** Sends the input alone, several times while it blocks the server. @returns the shortest of its longest holds */
  async #alone(
    target: ServedTarget,
    input: Uint8Array,
  ): Promise<{ readonly delivery: Delivery; readonly holdMs: number }> {
    let shortest = Infinity;
    let delivery: Delivery = { outcome: "server lost" };
    for (let round = 0; round < replayRounds && shortest > this.#options.holdMs; round += 1) {
      const server = await this.#ready();
      const before = server.holds.length;
      const courier = new Courier(server);
      const lost = server.over.then((): Delivery => ({
        outcome: "server lost",
        fault: server.fate ?? "the server was lost",
      }));
      delivery = await Promise.race([courier.deliver(target, input), lost]);
      courier.close();
      await sleep(probeDelayMs);
      if (server.fate !== undefined) return { delivery: { outcome: "server lost", fault: server.fate }, holdMs: 0 };
      shortest = Math.min(shortest, Math.max(0, ...server.holds.slice(before).map(({ cpuMs }) => cpuMs)));
    }
    return { delivery, holdMs: shortest };
  }

  #input(target: ServedTarget, index: number): Uint8Array {
    return target.generate(new Random(this.#options.seed, target.name, index));
  }
}

/** Sends first requests, so that what they load does not count as growth. */
async function warmUp({ port, placeholders }: FuzzedServer): Promise<void> {
  const headers = { authorization: `Bearer ${placeholders["key"]}`, "content-type": "application/json" };
  const send = async (path: string, body: object): Promise<void> => {
    await (
      await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    ).arrayBuffer();
  };
  const messages = [{ role: "user", content: "Hi" }];
  for (let round = 0; round < 20; round += 1) {
    await send("/v1/chat/completions", { model: "sounding-trial", max_tokens: 2, messages });
    await send("/v1/audio/speech", { model: "flite", voice: "slt", input: "Hi.", response_format: "mp3" });
    await send("/observability/logs", { limit: 1 });
    await send("/observability/metrics", { metric: "token_consumption" });
    await send("/v1/logs", {});
  }
}
