/** The asynchronous client. */
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
import { createAsyncTransport } from "./transport-async.ts";

/**
 * A client of one Sounding server whose operations return promises; for Node, Deno, Bun and browsers.
 *
 * @example
 * const sounding = new AsyncSounding({ apiKey: "sk-…" });
 * const completion = await sounding.chat.completions.create({
 *   model: "…",
 *   messages: [{ role: "user", content: "What is a fathom?" }],
 * });
 * console.log(completion.choices[0]?.message.content);
 */
export class AsyncSounding {
  /** Chat completions. */
  readonly chat: Chat<"async">;
  /** Speech from text, and text from recordings. */
  readonly audio: Audio<"async">;
  /** Vectors from texts. */
  readonly embeddings: Embeddings<"async">;
  /** The models that the server offers. */
  readonly models: Models<"async">;
  /** Log entries that applications sent. */
  readonly logs: Logs<"async">;
  /** Metrics of calls, agents and sessions, and those that applications sent. */
  readonly metrics: Metrics<"async">;
  /** Traces that applications sent, and those of calls of this server. */
  readonly traces: Traces<"async">;
  /** What calls cost, by model, user, day, … */
  readonly spend: SpendSums<"async">;
  /** Limits in money, for administrators. */
  readonly budgets: Budgets<"async">;

  /** @throws ConfigurationError when an option is missing or wrong */
  constructor(options: ClientOptions = {}) {
    const transport = createAsyncTransport(clientSettings(options));
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
