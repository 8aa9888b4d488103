/** The asynchronous client of Sounding. Imports no module of a specific runtime. */
export { AsyncSounding } from "./async-sounding.ts";
export {
  AbortError,
  ApiStatusError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  IncompleteStreamError,
  InvalidAnswerError,
  isSoundingError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  SoundingError,
  StreamError,
  TimeoutError,
  UnprocessableEntityError,
  type ErrorKind,
} from "./errors.ts";
export type {
  Budget,
  BudgetPage,
  ChatCompletion,
  ChatCompletionChunk,
  ChatContentPart,
  ChatMessage,
  Conversations,
  LogHistogram,
  Model,
  ModelList,
  PriceList,
  Spend,
  TraceHistogram,
  TranscriptionStreamEvent,
  TranscriptionVerbose,
  TTSWordBoundaryEvent,
  VoiceList,
} from "./generated/types.ts";
export type { FileContent, FileInput, NamedFile } from "./file-input.ts";
export type { AsyncEventStream } from "./mode.ts";
export type { ApiKey, ClientOptions, Fetch, HeaderValues } from "./options.ts";
export type { CallOptions, CallParameters } from "./request.ts";
export type { BudgetCreateParams, BudgetListParams, BudgetUpdateParams } from "./resources/budgets.ts";
export type { ChatCompletionParams } from "./resources/chat.ts";
export type { Embedding, EmbeddingList, EmbeddingParams } from "./resources/embeddings.ts";
export type { ModelListOptions, PriceListOptions } from "./resources/models.ts";
export type { SpendParams } from "./resources/spend.ts";
export type { SpeechParams } from "./resources/speech.ts";
export type { SpeechItem, SpeechStream } from "./resources/speech-stream.ts";
export type {
  ASRResponse,
  ChunkingStrategy,
  TranscriptionParams,
  TranscriptionSegment,
  TranscriptionSegmentEvent,
  TranscriptionTextDeltaEvent,
  TranscriptionTextDoneEvent,
  TranscriptionWord,
  TranscriptionWordEvent,
} from "./resources/transcriptions.ts";
export { TTSResponse } from "./resources/tts-response.ts";
export type { VoiceFilter } from "./resources/voices.ts";
export type {
  ConversationsParams,
  LogsQueryParams,
  MetricsQueryParams,
  PromqlAnswer,
  PromqlParams,
  LogHistogramParams,
  TraceHistogramParams,
  TracesQueryParams,
} from "./resources/telemetry.ts";
export type {
  LogEntry,
  LogSample,
  LogsResult,
  MetricSample,
  MetricsResult,
  MetricValue,
  ScopeSpans,
  Span,
  SpanAttribute,
  TraceBatch,
  TracesResult,
} from "./resources/telemetry-results.ts";
export { responseOf, type AnswerHead } from "./response.ts";
export { clientVersion } from "./version.ts";
