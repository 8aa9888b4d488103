/** What the primary and its workers say to each other. */
import type { Config } from "../config/config.ts";
import type { Address } from "../http/listen.ts";
import type { LedgerAnswer, LedgerRequest } from "../limits/shared/limit-ledger.ts";
import type { CircuitChange } from "../routing/circuit.ts";
import type { CircuitTarget } from "../routing/circuit-exchange.ts";
import type { Overview } from "../running-app.ts";
import type { MetricSnapshot } from "../status/metric-snapshot.ts";
import type { Scrape } from "../status/scrape.ts";

/** The name of a port whose connections are handed over. */
export type PortName = "http" | "grpc";

/** The embedded store's process. */
export interface EngineState {
  /** Counts its starts. */
  readonly starts: number;
  /** Why it does not run; undefined while it runs. */
  readonly down: { readonly reason: string; readonly isFinal: boolean } | undefined;
}

export interface OpenCircuit {
  readonly target: CircuitTarget;
  readonly forMs: number;
}

export interface StartOrder {
  readonly config: Config;
  readonly version: string;
  /** From 1. */
  readonly number: number;
  /** Workers in total. */
  readonly count: number;
  readonly ports: Readonly<Partial<Record<PortName, Address>>> & { readonly http: Address };
  /** Undefined: not started yet, or not embedded. */
  readonly engine: EngineState | undefined;
  readonly openCircuits: readonly OpenCircuit[];
}

interface Exchange<Data, Reply = void> {
  readonly data: Data;
  readonly reply: Reply;
}

/** What a worker sends. */
export interface ToPrimary {
  /** The worker serves the connection, so that the primary need not keep it. */
  readonly taken: Exchange<number>;
  /** The control database changed. Answered when the other workers know. */
  readonly controlChanged: Exchange<undefined>;
  /** Whether the worker gets the lock. */
  readonly lock: Exchange<string, boolean>;
  readonly unlock: Exchange<string>;
  /** The engine with this number of starts does not respond. */
  readonly restartEngine: Exchange<number>;
  /** Answered when queries see what the other workers acknowledged to the organization. */
  readonly othersVisible: Exchange<string>;
  readonly circuit: Exchange<{ readonly target: CircuitTarget; readonly change: CircuitChange }>;
  /** A client sent a wrong key. */
  readonly failedKey: Exchange<string>;
  readonly scrape: Exchange<undefined, Scrape>;
  readonly exchangeLimits: Exchange<LedgerRequest, LedgerAnswer>;
}

/** What the primary sends. */
export interface ToWorker {
  /** Answered when the worker serves requests. */
  readonly start: Exchange<StartOrder>;
  /** Comes with a connection. */
  readonly connection: Exchange<{ readonly id: number; readonly port: PortName }>;
  /** Answered as long as the worker's main thread runs. */
  readonly ping: Exchange<undefined>;
  readonly controlChanged: Exchange<undefined>;
  readonly engine: Exchange<EngineState>;
  /** Answered when queries see what this worker acknowledged to the organization. */
  readonly visible: Exchange<string>;
  readonly circuit: Exchange<{ readonly target: CircuitTarget; readonly change: CircuitChange }>;
  readonly failedKey: Exchange<string>;
  readonly snapshot: Exchange<undefined, MetricSnapshot>;
  readonly reload: Exchange<Config>;
  readonly overview: Exchange<undefined, Overview>;
  readonly prepareConsole: Exchange<undefined, boolean>;
  readonly telemetryReady: Exchange<undefined>;
  readonly lookForModels: Exchange<undefined>;
  /** Ends the worker. */
  readonly close: Exchange<undefined>;
}
