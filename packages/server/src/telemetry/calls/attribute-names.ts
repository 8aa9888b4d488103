/**
 * Names the attributes of our own spans and log records: OpenTelemetry's GenAI conventions
 * (https://github.com/open-telemetry/semantic-conventions-genai) as of November 2026, and a few of our own.
 */
export const genAi = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  outputType: "gen_ai.output.type",
  conversation: "gen_ai.conversation.id",
  agent: "gen_ai.agent.id",
  requestModel: "gen_ai.request.model",
  requestVoice: "gen_ai.request.voice",
  requestStream: "gen_ai.request.stream",
  choiceCount: "gen_ai.request.choice.count",
  maxTokens: "gen_ai.request.max_tokens",
  temperature: "gen_ai.request.temperature",
  topP: "gen_ai.request.top_p",
  frequencyPenalty: "gen_ai.request.frequency_penalty",
  presencePenalty: "gen_ai.request.presence_penalty",
  seed: "gen_ai.request.seed",
  stopSequences: "gen_ai.request.stop_sequences",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  /** Not in the conventions; OpenLIT and others use it. In the currency of the prices. */
  cost: "gen_ai.usage.cost",
  embeddingDimensions: "gen_ai.embeddings.dimension.count",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  systemInstructions: "gen_ai.system_instructions",
  riskCategory: "gen_ai.guardrail.risk.category",
} as const;

export const errorType = "error.type";
export const clientAddress = "client.address";
export const endUser = "user.id";

/** Our own attributes, where OpenTelemetry has none. */
export const sounding = {
  requestId: "sounding.request.id",
  keyId: "sounding.key.id",
  keyName: "sounding.key.name",
  engine: "sounding.engine",
  attempts: "sounding.attempts",
  /** Whether a part of the token counts is an estimate, because the engine reported none. */
  usageEstimated: "sounding.usage.estimated",
  /** The price of which `gen_ai.usage.cost` was computed. */
  price: "sounding.price",
  /** The HTTP status with which the engine refused the call. */
  upstreamStatus: "sounding.upstream.status_code",
  /** Seconds of audio, synthesized or transcribed. */
  audioDuration: "sounding.audio.duration",
  speechCharacters: "sounding.speech.characters",
  speechFormat: "sounding.speech.format",
  timeToFirstAudio: "sounding.speech.time_to_first_audio",
  transcriptionLanguage: "sounding.transcription.language",
  timeToFirstText: "sounding.transcription.time_to_first_text",
  /** Processing time per second of audio. */
  realtimeFactor: "sounding.transcription.realtime_factor",
  transcriptionConfidence: "sounding.transcription.confidence",
  guardrailNames: "sounding.guardrail.names",
  guardrailFlagged: "sounding.guardrail.flagged",
  guardrailRedacted: "sounding.guardrail.redacted",
} as const;
