/** Turns a form's values into a transcription request: fills in defaults and checks the rules between fields. */
import { TranscriptionRequest, type TimestampGranularity } from "../api/transcription-request.ts";
import { validate } from "../api/validate.ts";
import { AppError } from "../errors.ts";

export interface PreparedTranscription {
  readonly model: string;
  /** BCP 47 with its region, such as `en-US`. */
  readonly language: string;
  readonly format: "json" | "verbose_json";
  readonly granularities: ReadonlySet<TimestampGranularity>;
  readonly stream: boolean;
  readonly logprobs: boolean;
  readonly prompt: string | undefined;
  readonly temperature: number | undefined;
  /** Undefined: the engine decides. */
  readonly chunking: { readonly prefixPaddingMs: number; readonly silenceDurationMs: number } | undefined;
  /** Undefined: the default, which depends on the length of the recording. */
  readonly timeoutMs: number | undefined;
}

const defaultLanguage = "en-US";
/** The values that docs/reference/interface.md recommends; nothing is cut off. */
const defaultPrefixPaddingMs = 4_000;
const defaultSilenceDurationMs = 5_000;

/** @throws AppError invalid_request */
export function prepareTranscription(values: Readonly<Record<string, unknown>>): PreparedTranscription {
  const request = validate(TranscriptionRequest, values);
  const format = request.response_format ?? "json";
  const asked = request.timestamp_granularities ?? [];
  if (asked.length > 0 && format !== "verbose_json") {
    throw new AppError(
      "invalid_request",
      `timestamp_granularities is ${JSON.stringify(asked)}, but response_format is ${JSON.stringify(format)}; expected response_format "verbose_json".`,
      { param: "timestamp_granularities" },
    );
  }
  return {
    model: request.model,
    language: withRegion(request.language ?? defaultLanguage),
    format,
    granularities: new Set(asked),
    stream: request.stream ?? false,
    logprobs: request.include?.includes("logprobs") === true,
    prompt: request.prompt ?? undefined,
    temperature: request.temperature ?? undefined,
    chunking: chunkingOf(request),
    timeoutMs: request.timeout == null ? undefined : request.timeout * 1_000,
  };
}

function chunkingOf({ chunking_strategy: strategy }: TranscriptionRequest): PreparedTranscription["chunking"] {
  if (strategy == null || strategy === "auto") return undefined;
  return {
    prefixPaddingMs: strategy.prefix_padding_ms ?? defaultPrefixPaddingMs,
    silenceDurationMs: strategy.silence_duration_ms ?? defaultSilenceDurationMs,
  };
}

/** Adds the most likely region and normalizes: `en`, `EN_us` and `en-us` become `en-US` (https://www.unicode.org/reports/tr35/#Likely_Subtags). */
export function withRegion(tag: string): string {
  try {
    const locale = new Intl.Locale(tag.replaceAll("_", "-"));
    const { language, region } = locale.region === undefined ? locale.maximize() : locale;
    return region === undefined ? locale.toString() : `${language}-${region}`;
  } catch (error) {
    throw new AppError("invalid_request", `language is ${JSON.stringify(tag)}; expected a language such as "en-US".`, {
      param: "language",
      cause: error,
    });
  }
}
