/**
 * Generates a closed-loop load: each connection sends a request, waits for the complete response, thinks, and sends the
 * next.
 */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { AnswerParser } from "./answer-parser.ts";
import { readTransits } from "./wire.ts";

export interface Load {
  readonly port: number;
  /** The whole request, head and body. */
  readonly request: Buffer;
  readonly connections: number;
  readonly durationMs: number;
  /** Between a response and the next request of a connection. */
  readonly thinkMs: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Milliseconds, each sorted: complete responses, first bytes of bodies, transit times of single events. */
  readonly answerMs: Float64Array;
  readonly firstByteMs: Float64Array;
  readonly transitMs: Float64Array;
}

/** Capacity for the measurements of one load; more are counted but not kept. */
const maxSamples = 500_000;

class Samples {
  readonly #values = new Float64Array(maxSamples);
  #count = 0;

  add(value: number): void {
    if (this.#count < maxSamples) this.#values[this.#count++] = value;
  }

  sorted(): Float64Array {
    return this.#values.slice(0, this.#count).sort();
  }
}

/** @throws if a response has a status other than 200, or a connection fails */
export async function runLoad(load: Load): Promise<LoadResult> {
  const answer = new Samples();
  const firstByte = new Samples();
  const transit = new Samples();
  const start = performance.now();
  const deadline = start + load.durationMs;
  let answers = 0;

  const runConnection = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const socket: Socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
      let sentMs = 0;
      let isFirst = true;
      let isOver = false;
      const send = (): void => {
        if (performance.now() >= deadline) {
          isOver = true;
          socket.end();
          return;
        }
        sentMs = performance.now();
        isFirst = true;
        socket.write(load.request);
      };
      const parser = new AnswerParser({
        onHead(status) {
          if (status !== 200) socket.destroy(new Error(`An answer has status ${status}.`));
        },
        onBody(bytes) {
          if (isFirst) firstByte.add(performance.now() - sentMs);
          isFirst = false;
          readTransits(bytes, (micros) => transit.add(micros / 1000));
        },
        onEnd() {
          answers++;
          answer.add(performance.now() - sentMs);
          if (load.thinkMs === 0) send();
          else setTimeout(send, load.thinkMs * (0.5 + Math.random()));
        },
      });
      socket.on("data", (bytes: Buffer) => parser.push(bytes));
      // Connections that think start spread over that time, the others start immediately.
      socket.on("connect", () => void sleep((load.thinkMs * index) / load.connections).then(send));
      socket.on("error", reject);
      socket.on("close", () => (isOver ? resolve() : reject(new Error("A connection was closed in the middle."))));
    });

  await Promise.all(Array.from({ length: load.connections }, (_, index) => runConnection(index)));
  return {
    answers,
    seconds: (performance.now() - start) / 1000,
    answerMs: answer.sorted(),
    firstByteMs: firstByte.sorted(),
    transitMs: transit.sorted(),
  };
}

/**
 * @param sorted ascending
 * @returns NaN if it is empty
 */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
