/** Calls an API like OpenAI's moderations. https://platform.openai.com/docs/api-reference/moderations/create */
import { contentCategories, type ContentCategory } from "../api/content-categories.ts";
import type { ModerationGuardrailSettings } from "../config/guardrails.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Logger } from "../logger.ts";
import { requestJson } from "../engines/upstream-http/request-json.ts";
import { ConnectionPool } from "../engines/upstream-http/connection-pool.ts";
import { splitBaseUrl } from "../engines/upstream-http/base-url.ts";
import { isObject, wholeNumber, type JsonObject } from "../json-object.ts";

/** The endpoint's result for a text in one category, including its subcategories. */
export interface CategoryScore {
  readonly category: ContentCategory;
  /** 0 to 1, the highest; 0 if the endpoint returns no scores. */
  readonly score: number;
  readonly isFlagged: boolean;
}

export interface Judgement {
  /** The categories of each text that have a score or a flag. */
  readonly scores: readonly (readonly CategoryScore[])[];
  /** Undefined if the endpoint reports none. */
  readonly inputTokens: number | undefined;
}

export interface ModerationClient {
  /** @throws AppError upstream_failed, upstream_timeout, overloaded, client_closed */
  judge(texts: readonly string[], signal: AbortSignal): Promise<Judgement>;
  /**
   * The endpoint's own answer, with one result for each input.
   * @throws AppError as `judge`, and invalid_request for what the endpoint refuses
   */
  classify(input: unknown, count: number, signal: AbortSignal): Promise<JsonObject>;
  /** No new calls will come. Running calls may still send requests; connections are closed whenever there are none. */
  retire(): void;
  close(): Promise<void>;
}

const maxAnswerBytes = 4_194_304;
/** A result of OpenAI's has 2 KB. */
const maxBytesPerResult = 16_384;
const maxOtherBytes = 65_536;
const maxQueued = 1_024;
/** OpenAI's models have 13. */
const maximumCategories = inputLimit({
  area: "Chat completions",
  bounds: "Categories of one result of a moderation endpoint",
  value: 1_000,
  error: "upstream_failed",
});

export function createModerationClient(
  name: string,
  settings: ModerationGuardrailSettings,
  logger: Logger,
): ModerationClient {
  const { origin, path: root } = splitBaseUrl(settings.base_url);
  const path = `${root}/moderations`;
  const { api_key: key, model, timeout_ms: timeoutMs } = settings;
  const limits = {
    connectTimeoutMs: timeoutMs,
    firstByteTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
  };
  const newPool = (): ConnectionPool =>
    new ConnectionPool({
      origin,
      maxConnections: settings.max_connections,
      maxQueued,
      queueTimeoutMs: timeoutMs,
      connectTimeoutMs: timeoutMs,
      onCredentialsRefused: (status) =>
        logger.error({ guardrail: name, status }, "a moderation endpoint rejected its credentials"),
    });
  let pool = newPool();
  let asking = 0;
  let isRetired = false;
  const closeIfIdle = (): void => {
    if (!isRetired || asking > 0) return;
    void pool.close();
    // Opens no connection until a running call sends another request.
    pool = newPool();
  };
  const headers = [
    "user-agent",
    "sounding",
    "content-type",
    "application/json",
    "accept",
    "application/json",
    ...(key === undefined ? [] : ["authorization", `Bearer ${key}`]),
  ];
  const ask = async (input: unknown, count: number, signal: AbortSignal): Promise<unknown> => {
    const body = Buffer.from(JSON.stringify({ ...(model === undefined ? {} : { model }), input }));
    asking += 1;
    try {
      const request = {
        method: "POST",
        path,
        headers,
        body: { pieces: [body], byteLength: body.length },
        signal,
        limits,
        isStream: false,
      } as const;
      return await requestJson(pool, request, Math.min(maxAnswerBytes, maxOtherBytes + count * maxBytesPerResult));
    } finally {
      asking -= 1;
      closeIfIdle();
    }
  };
  return {
    async judge(texts, signal) {
      const answer = await ask(texts, texts.length, signal);
      return { scores: readJudgements(answer, texts.length), inputTokens: tokensIn(answer) };
    },
    async classify(input, count, signal) {
      const answer = await ask(input, count, signal);
      if (!isObject(answer)) throw noJudgement("is not an object");
      readJudgements(answer, count);
      return answer;
    },
    retire() {
      isRetired = true;
      closeIfIdle();
    },
    close: () => pool.close(),
  };
}

/** Endpoints of language models report usage, as embeddings do. */
function tokensIn(answer: unknown): number | undefined {
  const usage = isObject(answer) ? answer["usage"] : undefined;
  return isObject(usage) ? wholeNumber(usage["prompt_tokens"] ?? usage["input_tokens"]) : undefined;
}

/** @throws AppError upstream_failed for an answer that does not judge every text */
function readJudgements(answer: unknown, count: number): CategoryScore[][] {
  const results: unknown = isObject(answer) ? answer["results"] : undefined;
  if (!Array.isArray(results) || results.length !== count)
    throw noJudgement("does not have exactly one result per text");
  return results.map(readResult);
}

function readResult(result: unknown): CategoryScore[] {
  if (!isObject(result)) throw noJudgement("has a result that is not an object");
  const { categories, category_scores: scores } = result;
  if (!isObject(categories) && !isObject(scores)) throw noJudgement("has a result without categories");
  const flags = Object.entries(isObject(categories) ? categories : {});
  const numbers = Object.entries(isObject(scores) ? scores : {});
  if (Math.max(flags.length, numbers.length) > maximumCategories) {
    throw noJudgement(`has a result with more than ${maximumCategories} categories`);
  }
  const flagged = new Set(flags.filter(([, flag]) => flag === true).map(([name]) => headOf(name)));
  const highest = new Map<string, number>();
  for (const [name, value] of numbers) {
    if (typeof value !== "number") continue;
    const head = headOf(name);
    highest.set(head, Math.max(highest.get(head) ?? 0, value));
  }
  return contentCategories.flatMap((category) => {
    const isFlagged = flagged.has(category);
    const score = highest.get(category) ?? 0;
    return isFlagged || score > 0 ? [{ category, score, isFlagged }] : [];
  });
}

/** `harassment/threatening` belongs to `harassment`; some servers write `self_harm`. */
function headOf(name: string): string {
  return name.split("/", 1)[0]!.replaceAll("_", "-");
}

function noJudgement(what: string): AppError {
  return new AppError("upstream_failed", `The moderation endpoint's response ${what}.`);
}
