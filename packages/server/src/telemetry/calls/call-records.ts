/** Builds the records that every kind of call has: a span, spans of its attempts, and a log record if it failed. */
import type { AppError } from "../../errors.ts";
import type { FinishedCall } from "../../finished-call.ts";
import { redactText } from "../../logger.ts";
import { metadataPrefix } from "../../store/rollups/spend-quarters.ts";
import { clientAddress, endUser, errorType, genAi, sounding } from "./attribute-names.ts";
import { toUnixNano, type Attributes, type CallLog, type CallSpan } from "./call-record-types.ts";
import { newSpanId, traceContext, type TraceContext } from "./trace-context.ts";

/** What differs between kinds of calls. */
interface CallKind {
  /** The subject of the sentence "… failed: …". */
  readonly subject: string;
  /** The attributes of this kind of call. */
  readonly attributes: Attributes;
  /** Whether the project records content. */
  readonly keepContent: boolean;
}

export interface CallRecords {
  readonly spans: readonly CallSpan[];
  readonly log: CallLog | undefined;
}

/** OpenTelemetry's name of an engine's vendor. */
export type ProviderOf = (engine: string) => string;

/** Redacts keys that callers paste into model names, so that they do not reach the project's telemetry. */
export function toCallRecords(call: FinishedCall, kind: CallKind, providerOf: ProviderOf): CallRecords {
  const { scope, requestId, error, attempts } = call;
  const operation = call.kind === "chat" ? call.operation : call.kind;
  const model = redactText(call.model);
  const context = traceContext(call.traceparent, call.tracestate);
  const spanId = newSpanId();
  const last = attempts.at(-1);
  const engine = last?.engine;
  const span: CallSpan = {
    ...context,
    spanId,
    name: `${operation} ${model}`,
    kind: "client",
    startUnixNano: toUnixNano(call.startUnixMs),
    endUnixNano: toUnixNano(call.startUnixMs + call.durationMs),
    error: failureOf(error, kind.keepContent),
    quotesRequest: error?.status === badRequestStatus,
    attributes: {
      [genAi.operation]: operation,
      [genAi.provider]: engine === undefined ? undefined : providerOf(engine),
      [genAi.requestModel]: model,
      [genAi.responseModel]: last?.outcome === "ok" ? last.modelId : undefined,
      [sounding.requestId]: requestId,
      [sounding.keyId]: scope.key.keyId,
      [sounding.keyName]: scope.key.keyName,
      [endUser]: call.endUser === undefined ? undefined : redactText(call.endUser),
      [genAi.conversation]: call.conversation === undefined ? undefined : redactText(call.conversation),
      [genAi.agent]: call.agent === undefined ? undefined : redactText(call.agent),
      [clientAddress]: call.clientAddress,
      [sounding.engine]: engine,
      [sounding.attempts]: attempts.length > 1 ? attempts.length : undefined,
      [sounding.upstreamStatus]: error?.upstreamStatus,
      [errorType]: error?.code,
      [genAi.cost]: call.cost?.total,
      [sounding.price]: call.cost === undefined ? undefined : redactText(call.cost.source),
      ...tagAttributes(call.tags),
      ...kind.attributes,
    },
  };
  return {
    spans: [span, ...attemptSpans(attempts, { context, spanId, keepContent: kind.keepContent })],
    log: logOf(error, redactText(kind.subject), span),
  };
}

function tagAttributes(tags: FinishedCall["tags"]): Attributes {
  if (tags === undefined) return {};
  return Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [metadataPrefix + redactText(name), redactText(value)]),
  );
}

/**
 * The recorded message of a failure; undefined without one, such as when the client disconnected. Messages about a request can
 * quote it, so they count as content.
 */
function failureOf(error: AppError | undefined, keepContent: boolean): string | undefined {
  if (error === undefined || error.code === "client_closed") return undefined;
  if (error.status !== badRequestStatus || keepContent) return redactText(error.message);
  // An unknown parameter's name is the caller's text, too.
  return error.param === null ? error.code : `${error.code}: ${redactText(error.param.slice(0, longestParameter))}`;
}

const badRequestStatus = 400;
const longestParameter = 200;

/** One span per attempt, if there was more than one. Only the call itself counts as a model call. */
function attemptSpans(
  attempts: FinishedCall["attempts"],
  { context, keepContent, spanId }: { context: TraceContext; spanId: string; keepContent: boolean },
): CallSpan[] {
  if (attempts.length < 2) return [];
  return attempts.map((attempt, index) => ({
    ...context,
    parentSpanId: spanId,
    spanId: newSpanId(),
    name: `attempt ${attempt.engine}`,
    kind: "client",
    startUnixNano: toUnixNano(attempt.startUnixMs),
    endUnixNano: toUnixNano(attempt.startUnixMs + attempt.durationMs),
    error: failureOf(attempt.error, keepContent),
    quotesRequest: attempt.error?.status === badRequestStatus,
    attributes: {
      [sounding.engine]: attempt.engine,
      [genAi.requestModel]: redactText(attempt.model),
      [sounding.attempts]: index + 1,
      [sounding.upstreamStatus]: attempt.error?.upstreamStatus,
      [errorType]: attempt.outcome === "ok" ? undefined : attempt.outcome,
    },
  }));
}

/** Callers' errors are logged as warnings; failures of engines and of the server as errors. */
const firstServerStatus = 500;

function logOf(error: AppError | undefined, subject: string, span: CallSpan): CallLog | undefined {
  if (error === undefined || span.error === undefined) return undefined;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    unixNano: span.endUnixNano,
    level: error.status >= firstServerStatus ? "error" : "warning",
    eventName: "gen_ai.client.operation.exception",
    body: `${subject} failed: ${span.error}`,
    quotesRequest: span.quotesRequest,
    attributes: {
      [genAi.operation]: span.attributes[genAi.operation],
      [genAi.requestModel]: span.attributes[genAi.requestModel],
      [errorType]: error.code,
      [sounding.upstreamStatus]: error.upstreamStatus,
      "exception.type": error.code,
      "exception.message": span.error,
      [sounding.requestId]: span.attributes[sounding.requestId],
    },
  };
}
