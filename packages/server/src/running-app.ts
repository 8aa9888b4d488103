/** The interface of a running server: what starts it, and what the process and the command may do with it. */
import type { Capability } from "./api/models.ts";
import type { Config } from "./config/config.ts";
import type { FinishedRequest } from "./http/request-context.ts";
import type { LeveledLogger } from "./logger.ts";
import type { ServerParts } from "./server-parts.ts";
import type { StoreState } from "./store/store.ts";
import type { InitialCredentials } from "./tenancy/bootstrap.ts";

export interface AppOptions {
  readonly config: Config;
  readonly logger: LeveledLogger;
  readonly version: string;
  /** Called for every finished request, for telemetry of the process. */
  readonly observeRequest?: ((request: FinishedRequest) => void) | undefined;
  /** Called as soon as the first keys exist: their secrets would be lost if a later part failed to start. */
  readonly onFirstStart?: ((made: InitialCredentials, url: string) => void | Promise<void>) | undefined;
  /** What the server has once; closed with the app. Absent: this process opens it. */
  readonly parts?: ServerParts | undefined;
}

/** A running server. */
export interface App {
  /** The address for clients on this machine. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Undefined if OTLP/gRPC has no port of its own. */
  readonly grpcPort: number | undefined;
  /** The secrets of the first keys, if this start created them. */
  readonly firstStart: InitialCredentials | undefined;
  /** Applies changes to models, guardrails, limits and the log level. Running calls are not affected. */
  reload(config: Config): Promise<void>;
  /** What callers can use now. */
  overview(): Promise<Overview>;
  /** Resolves to whether the server has a web console, once its files are in memory. */
  prepareConsole(): Promise<boolean>;
  /** Resolves when telemetry can be stored and queried. Rejects if the signal fires. */
  whenTelemetryReady(signal: AbortSignal): Promise<void>;
  /** Asks all engines for their models again. */
  lookForModels(): Promise<void>;
  /** Waits up to the shutdown timeout for running calls, then closes everything. */
  close(): Promise<void>;
}

/** What callers can use. */
export interface Overview {
  /** The models by what they can be called for. */
  readonly models: Readonly<Record<Capability, readonly { readonly id: string; readonly ownedBy: string }[]>>;
  readonly telemetry: StoreState;
}
