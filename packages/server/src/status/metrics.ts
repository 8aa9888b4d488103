/** The server's own metrics, for Prometheus to scrape. Names follow https://prometheus.io/docs/practices/naming/ */
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import {
  outcomeOf,
  type FinishedCall,
  type FinishedChat,
  type FinishedEmbeddings,
  type FinishedSpeech,
  type FinishedTranscription,
} from "../finished-call.ts";
import { createCostCounter } from "./cost-counter.ts";
import { Counter } from "./counter.ts";
import { Histogram } from "./histogram.ts";
import { snapshotOf, type MetricSnapshot } from "./metric-snapshot.ts";
import { createScrape, renderRegistry, type Scrape } from "./scrape.ts";
import { createObservableGauges, type ObservableGauges } from "./observable-gauges.ts";
import { createAlertMetrics, type AlertMetrics } from "./alert-metrics.ts";
import { createSharedLimitMetrics, type SharedLimitMetrics } from "./shared-limit-metrics.ts";
import { createLossCounters, type LossCounters } from "./loss-counters.ts";
import { createMainThreadMetrics } from "./main-thread-metrics.ts";

/** A finished HTTP request. */
interface FinishedRequest {
  readonly operation: string;
  readonly status: number;
  readonly durationMs: number;
  readonly mainThreadMs: number;
  readonly storeMs: number;
}

/** The outcome of a write of telemetry rows. */
interface TelemetryWrite {
  readonly table: string;
  readonly rows: number;
  readonly outcome: string;
  readonly durationMs?: number | undefined;
}

export interface Metrics extends ObservableGauges, LossCounters {
  readonly alerts: AlertMetrics;
  readonly sharedLimits: SharedLimitMetrics;
  observeRequest(request: FinishedRequest): void;
  /** Counts a finished call of a model. */
  observeCall(call: FinishedCall): void;
  observeTelemetryWrite(write: TelemetryWrite): void;
  /** Records one event loop delay. */
  observeLoopDelay(delayMs: number): void;
  /** The metrics in Prometheus' text format; cached for a moment if scrapes are frequent. */
  scrape(): Promise<Scrape>;
  /** The metrics as values, for the sum over several processes. */
  snapshot(): Promise<MetricSnapshot>;
}

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Callers may request any `engine/name`; they must not be able to create series without bound. */
const maximumModels = 1000;
const otherModel = "other";

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  // Its own timer for the event loop's lag costs an idle process 0.6 % of a core with the default of 10 ms.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  new Gauge({
    name: "sounding_build_info",
    help: "Always 1; the version is a label.",
    labelNames: ["version"],
    aggregator: "first",
    registers,
  }).set({ version }, 1);
  const requests = new Counter({
    name: "sounding_http_requests_total",
    help: "HTTP requests by operation and status.",
    labelNames: ["operation", "status"],
    registers,
  });
  const requestSeconds = new Histogram({
    name: "sounding_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["operation"],
    buckets: durationBuckets,
    registers,
  });
  const chats = new Counter({
    name: "sounding_chat_completions_total",
    help: "Chat completions by model and outcome.",
    labelNames: ["model", "outcome", "stream"],
    registers,
  });
  const chatSeconds = new Histogram({
    name: "sounding_chat_completion_duration_seconds",
    help: "Duration of a chat completion, from admission to its end.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const firstChunkSeconds = new Histogram({
    name: "sounding_chat_time_to_first_chunk_seconds",
    help: "Time to the first chunk of a streamed chat completion.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const tokens = new Counter({
    name: "sounding_chat_tokens_total",
    help: "Tokens of chat completions by model and type.",
    labelNames: ["model", "type"],
    registers,
  });
  const speeches = new Counter({
    name: "sounding_speech_total",
    help: "Speech syntheses by model, format and outcome.",
    labelNames: ["model", "format", "outcome", "stream"],
    registers,
  });
  const firstAudioSeconds = new Histogram({
    name: "sounding_speech_time_to_first_audio_seconds",
    help: "Time from the admission of a speech synthesis to its first audio.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const speechSeconds = new Histogram({
    name: "sounding_speech_duration_seconds",
    help: "Duration of a speech synthesis, from admission to its end.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const audioSeconds = new Counter({
    name: "sounding_speech_audio_seconds_total",
    help: "Seconds of synthesized audio.",
    labelNames: ["model"],
    registers,
  });
  const characters = new Counter({
    name: "sounding_speech_characters_total",
    help: "Input characters of speech syntheses.",
    labelNames: ["model"],
    registers,
  });
  const transcriptions = new Counter({
    name: "sounding_transcription_total",
    help: "Transcriptions by model and outcome.",
    labelNames: ["model", "outcome", "stream"],
    registers,
  });
  const transcriptionSeconds = new Histogram({
    name: "sounding_transcription_duration_seconds",
    help: "Duration of a transcription, from admission to its end.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const firstTextSeconds = new Histogram({
    name: "sounding_transcription_time_to_first_text_seconds",
    help: "Time from the admission of a streamed transcription to its first text.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const transcribedSeconds = new Counter({
    name: "sounding_transcription_audio_seconds_total",
    help: "Seconds of transcribed audio.",
    labelNames: ["model"],
    registers,
  });
  const realTimeFactors = new Histogram({
    name: "sounding_transcription_realtime_factor",
    help: "Duration of a successful transcription divided by the length of its recording.",
    labelNames: ["model"],
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    registers,
  });
  const embeddings = new Counter({
    name: "sounding_embeddings_total",
    help: "Calls for embeddings by model and outcome.",
    labelNames: ["model", "outcome"],
    registers,
  });
  const embeddingSeconds = new Histogram({
    name: "sounding_embeddings_duration_seconds",
    help: "Duration of a call for embeddings, from admission to its end.",
    labelNames: ["model"],
    buckets: durationBuckets,
    registers,
  });
  const embeddingInputs = new Counter({
    name: "sounding_embeddings_inputs_total",
    help: "Texts that were embedded.",
    labelNames: ["model"],
    registers,
  });
  const embeddingTokens = new Counter({
    name: "sounding_embeddings_tokens_total",
    help: "Tokens of texts that were embedded.",
    labelNames: ["model"],
    registers,
  });
  const observeCost = createCostCounter(registers);
  const attempts = new Counter({
    name: "sounding_engine_attempts_total",
    help: "Upstream attempts by engine and outcome, including retries and fallbacks.",
    labelNames: ["engine", "outcome"],
    registers,
  });

  const models = new Set<string>();
  const modelLabel = (call: FinishedCall): string => {
    if (call.error === undefined && models.size < maximumModels) models.add(call.model);
    return models.has(call.model) ? call.model : otherModel;
  };
  const observeChat = (call: FinishedChat, model: string): void => {
    chats.add(1, model, outcomeOf(call), String(call.stream));
    chatSeconds.observe(call.durationMs / 1000, model);
    if (call.firstChunkMs !== undefined) firstChunkSeconds.observe(call.firstChunkMs / 1000, model);
    if (call.usage === undefined) return;
    tokens.add(call.usage.prompt_tokens, model, "input");
    tokens.add(call.usage.completion_tokens, model, "output");
  };
  const observeSpeech = (call: FinishedSpeech, model: string): void => {
    speeches.add(1, model, call.format, outcomeOf(call), String(call.stream));
    if (call.firstAudioMs !== undefined) firstAudioSeconds.observe(call.firstAudioMs / 1000, model);
    speechSeconds.observe(call.durationMs / 1000, model);
    audioSeconds.add(call.audioSeconds, model);
    characters.add(call.characters, model);
  };
  const observeEmbeddings = (call: FinishedEmbeddings, model: string): void => {
    embeddings.add(1, model, outcomeOf(call));
    embeddingSeconds.observe(call.durationMs / 1000, model);
    if (call.error !== undefined) return;
    embeddingInputs.add(call.inputs, model);
    embeddingTokens.add(call.tokens ?? 0, model);
  };
  const observeTranscription = (call: FinishedTranscription, model: string): void => {
    transcriptions.add(1, model, outcomeOf(call), String(call.stream));
    transcriptionSeconds.observe(call.durationMs / 1000, model);
    transcribedSeconds.add(call.audioSeconds, model);
    if (call.stream && call.firstTextMs !== undefined) firstTextSeconds.observe(call.firstTextMs / 1000, model);
    if (call.error === undefined && call.realTimeFactor !== undefined) {
      realTimeFactors.observe(call.realTimeFactor, model);
    }
  };

  const telemetryRows = new Counter({
    name: "sounding_telemetry_rows_total",
    help: "Telemetry rows by table and outcome: written, or the error that the sender got.",
    labelNames: ["table", "outcome"],
    registers,
  });
  const telemetrySeconds = new Histogram({
    name: "sounding_telemetry_insert_duration_seconds",
    help: "Duration of an insert, which batches rows of many requests.",
    labelNames: ["table"],
    buckets: durationBuckets,
    registers,
  });
  const { observeRequestTimes, observeLoopDelay } = createMainThreadMetrics(registers);
  return {
    alerts: createAlertMetrics(registers),
    sharedLimits: createSharedLimitMetrics(registers),
    observeLoopDelay,
    observeRequest(request) {
      const { operation, status, durationMs } = request;
      observeRequestTimes(request);
      requests.add(1, operation, String(status));
      requestSeconds.observe(durationMs / 1000, operation);
    },
    observeCall(call) {
      if (call.refused) return;
      const model = modelLabel(call);
      if (call.kind === "chat") observeChat(call, model);
      else if (call.kind === "speech") observeSpeech(call, model);
      else if (call.kind === "transcription") observeTranscription(call, model);
      else observeEmbeddings(call, model);
      observeCost(call, model);
      for (const { engine, outcome } of call.attempts) attempts.add(1, engine, outcome);
    },
    ...createLossCounters(registers),
    observeTelemetryWrite({ table, rows, outcome, durationMs }) {
      telemetryRows.add(rows, table, outcome);
      if (durationMs !== undefined) telemetrySeconds.observe(durationMs / 1000, table);
    },
    ...createObservableGauges(registers),
    scrape: createScrape(() => renderRegistry(registry)),
    snapshot: () => snapshotOf(registry),
  };
}
