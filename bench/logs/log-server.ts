/** What the benchmark asks of a server: to take records, and to answer queries of Loki's HTTP API. */
import type { Posted } from "../telemetry/server.ts";

export interface LogServer {
  readonly name: string;
  /** @throws if the server refuses them */
  send(otlp: Buffer): Promise<void>;
  /** @param path with the query string */
  get(path: string): Promise<Posted>;
  /** Of its processes so far. */
  cpuMicros(): number;
  /** Resolves when all records are where queries find them and nothing runs in the background, or after some minutes. */
  untilSettled(recordCount: number): Promise<void>;
  /** Bytes of the records and their indexes on the disk. May stop the server. */
  storedBytes(): Promise<number>;
  /** Of its processes, in bytes, at its highest. */
  memoryBytes(): number;
  /** Removes its files as well. */
  stop(): Promise<void>;
}
