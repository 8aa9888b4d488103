/** The synchronous client. */
import { ConfigurationError } from "./errors.ts";
import { clientSettings, type ClientOptions } from "./options.ts";
import { createAudio, type Audio } from "./resources/audio.ts";
import { createBudgets, type Budgets } from "./resources/budgets.ts";
import { createChat, type Chat } from "./resources/chat.ts";
import { createEmbeddings, type Embeddings } from "./resources/embeddings.ts";
import { createModels, type Models } from "./resources/models.ts";
import { createSpend, type SpendSums } from "./resources/spend.ts";
import {
  createLogs,
  createMetrics,
  createTraces,
  type Logs,
  type Metrics,
  type Traces,
} from "./resources/telemetry.ts";
import { createSyncTransport } from "./transport-sync.ts";

/**
 * Options of the synchronous client: those of the asynchronous one, with a function that can be called from this
 * thread.
 */
export type SyncClientOptions = Omit<ClientOptions, "fetch" | "apiKey" | "api_key"> & {
  /** The API key, or a function that returns a fresh one. Default: the environment variable `SOUNDING_API_KEY`. */
  apiKey?: string | (() => string) | undefined;
  api_key?: string | (() => string) | undefined;
};

/**
 * A client of one Sounding server whose operations return values; for Node.
 *
 * It blocks the thread while it waits: no timer and no other request runs. It is for scripts, notebooks
 * and the command line; a server uses `AsyncSounding`. A signal is looked at before a call and between the events of
 * a stream; `timeout` holds at any time.
 *
 * @example
 * const sounding = new Sounding();
 * for (const chunk of sounding.chat.completions.create({ model: "…", messages: […], stream: true })) {
 *   process.stdout.write(chunk.choices[0]?.delta.content ?? "");
 * }
 */
export class Sounding {
  /** Chat completions. */
  readonly chat: Chat<"sync">;
  /** Speech from text, and text from recordings. */
  readonly audio: Audio<"sync">;
  /** Vectors from texts. */
  readonly embeddings: Embeddings<"sync">;
  /** The models that the server offers. */
  readonly models: Models<"sync">;
  /** Log entries that applications sent. */
  readonly logs: Logs<"sync">;
  /** Metrics of calls, agents and sessions, and those that applications sent. */
  readonly metrics: Metrics<"sync">;
  /** Traces that applications sent, and those of calls of this server. */
  readonly traces: Traces<"sync">;
  /** What calls cost, by model, user, day, … */
  readonly spend: SpendSums<"sync">;
  /** Limits in money, for administrators. */
  readonly budgets: Budgets<"sync">;

  /** @throws ConfigurationError when an option is missing or wrong */
  constructor(options: SyncClientOptions = {}) {
    if ("fetch" in options) {
      throw new ConfigurationError(
        "The synchronous client does not accept `fetch`, because it sends requests from another thread.",
      );
    }
    const transport = createSyncTransport(clientSettings(options));
    this.chat = createChat(transport);
    this.audio = createAudio(transport);
    this.embeddings = createEmbeddings(transport);
    this.models = createModels(transport);
    this.logs = createLogs(transport);
    this.metrics = createMetrics(transport);
    this.traces = createTraces(transport);
    this.spend = createSpend(transport);
    this.budgets = createBudgets(transport);
  }
}
