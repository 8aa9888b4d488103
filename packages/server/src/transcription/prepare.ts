/** Turns a form's values into a transcription request: fills in defaults and checks the rules between fields. */
import { TranscriptionRequest, type TimestampGranularity } from "../api/transcription-request.ts";
import { validate } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { textFormats, type TextFormat } from "./subtitles.ts";

export interface PreparedTranscription {
  /** Whether the text is translated into English. */
  readonly translates: boolean;
  readonly model: string;
  /** BCP 47 with its region, such as `en-US`; undefined if the request names none, or `auto`. */
  readonly language: string | undefined;
  readonly format: "json" | "verbose_json" | TextFormat;
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

export interface PrepareOptions {
  /** Whether the request is one for a translation. */
  readonly translates: boolean;
  /** Whether OpenAI's formats `text`, `srt` and `vtt` are accepted, which the contract does not list. */
  readonly textFormats: boolean;
}

/** @throws AppError invalid_request */
export function prepareTranscription(
  values: Readonly<Record<string, unknown>>,
  options: PrepareOptions,
): PreparedTranscription {
  if (options.translates) requireTranslation(values);
  const textFormat = textFormatOf(values, options);
  const request = validate(
    TranscriptionRequest,
    textFormat === undefined ? values : { ...values, response_format: null },
  );
  const format = textFormat ?? request.response_format ?? "json";
  const asked = request.timestamp_granularities ?? [];
  if (asked.length > 0 && format !== "verbose_json") {
    throw new AppError(
      "invalid_request",
      `timestamp_granularities is ${JSON.stringify(asked)}, but response_format is ${JSON.stringify(format)}; expected response_format "verbose_json".`,
      { param: "timestamp_granularities" },
    );
  }
  return {
    translates: options.translates,
    model: request.model,
    language: request.language == null || request.language === "auto" ? undefined : withRegion(request.language),
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

/** Parameters of transcriptions that translations do not have. */
const notTranslated = ["language", "stream", "timestamp_granularities", "chunking_strategy", "include"] as const;

/** @throws AppError unsupported_parameter */
function requireTranslation(values: Readonly<Record<string, unknown>>): void {
  const param = notTranslated.find((name) => values[name] != null && values[name] !== false);
  if (param === undefined) return;
  const message = `${param} is set; translations do not have it. They are into English, and not streamed.`;
  throw new AppError("unsupported_parameter", message, { param });
}

/** @throws AppError invalid_request if the format is one that the operator has not allowed */
function textFormatOf(
  { response_format: asked, stream }: Readonly<Record<string, unknown>>,
  options: PrepareOptions,
): TextFormat | undefined {
  const format = textFormats.find((each) => each === asked);
  if (format === undefined) return undefined;
  if (!options.textFormats) {
    throw new AppError(
      "invalid_request",
      `response_format is "${format}"; expected one of "json", "verbose_json". The server's operator can allow "text", "srt" and "vtt" with the setting transcription.text_formats.`,
      { param: "response_format" },
    );
  }
  if (stream === true) {
    throw new AppError(
      "invalid_request",
      `response_format is "${format}", but stream is true; a stream consists of events. Expected response_format "json" or "verbose_json", or stream false.`,
      { param: "response_format" },
    );
  }
  return format;
}

function chunkingOf({ chunking_strategy: strategy }: TranscriptionRequest): PreparedTranscription["chunking"] {
  if (strategy == null || strategy === "auto") return undefined;
  return {
    prefixPaddingMs: strategy.prefix_padding_ms ?? defaultPrefixPaddingMs,
    silenceDurationMs: strategy.silence_duration_ms ?? defaultSilenceDurationMs,
  };
}

/** The language of a transcript: as requested, or as the model found it, with its region. */
export function reportedLanguage(requested: string | undefined, found: string | undefined): string {
  if (found === undefined) return requested ?? defaultLanguage;
  return requested !== undefined && isSameLanguage(requested, found) ? requested : withRegion(found);
}

/** Whether two languages are the same apart from their regions. */
export function isSameLanguage(one: string, other: string): boolean {
  return new Intl.Locale(one).language === new Intl.Locale(other).language;
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
