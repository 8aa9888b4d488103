/** What the telemetry of every kind of call has in common: a span, spans of its attempts, a log record of its failure. */
import type { AppError } from "../../errors.ts";
import type { FinishedCall } from "../../finished-call.ts";
import { redactText } from "../../logger.ts";
import { errorType, genAi, sounding } from "./attribute-names.ts";
import { toUnixNano, type Attributes, type CallLog, type CallSpan } from "./call-record-types.ts";
import { newSpanId, traceContext, type TraceContext } from "./trace-context.ts";

/** What differs between kinds of calls. */
interface CallKind {
  /** What failed, in the sentence "… failed: …". */
  readonly subject: string;
  /** Those that other kinds do not have. */
  readonly attributes: Attributes;
  /** Whether the project's settings say that content is recorded. */
  readonly keepContent: boolean;
}

export interface CallRecords {
  readonly spans: readonly CallSpan[];
  readonly log: CallLog | undefined;
}

/** The name by which OpenTelemetry knows the vendor of an engine. */
export type ProviderOf = (engine: string) => string;

/** Callers paste keys into model names; the telemetry of a project is no place for them. */
export function toCallRecords(call: FinishedCall, kind: CallKind, providerOf: ProviderOf): CallRecords {
  const { kind: operation, scope, requestId, error, attempts } = call;
  const model = redactText(call.model);
  const context = traceContext(call.traceparent, call.tracestate);
  const spanId = newSpanId();
  const engine = attempts.at(-1)?.engine;
  const span: CallSpan = {
    ...context,
    spanId,
    name: `${operation} ${model}`,
    kind: "client",
    startUnixNano: toUnixNano(call.startUnixMs),
    endUnixNano: toUnixNano(call.startUnixMs + call.durationMs),
    error: failureOf(error, kind.keepContent),
    attributes: {
      [genAi.operation]: operation,
      [genAi.provider]: engine === undefined ? undefined : providerOf(engine),
      [genAi.requestModel]: model,
      [sounding.requestId]: requestId,
      [sounding.keyId]: scope.key.keyId,
      [sounding.engine]: engine,
      [sounding.attempts]: attempts.length > 1 ? attempts.length : undefined,
      [errorType]: error?.code,
      ...kind.attributes,
    },
  };
  return {
    spans: [span, ...attemptSpans(attempts, { context, spanId })],
    log: logOf(error, redactText(kind.subject), span),
  };
}

/**
 * What is told of a failure; undefined where there is none, such as when the caller left. Messages about a request may quote
 * it, and so are content themselves.
 */
function failureOf(error: AppError | undefined, keepContent: boolean): string | undefined {
  if (error === undefined || error.code === "client_closed") return undefined;
  if (error.status !== badRequestStatus || keepContent) return redactText(error.message);
  return error.param === null ? error.code : `${error.code}: ${error.param}`;
}

const badRequestStatus = 400;

/** One each, where it took more than one. They are no model calls of their own: the call is counted once. */
function attemptSpans(
  attempts: FinishedCall["attempts"],
  { context, spanId }: { context: TraceContext; spanId: string },
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
    error: attempt.outcome === "ok" || attempt.outcome === "client_closed" ? undefined : attempt.outcome,
    attributes: {
      [sounding.engine]: attempt.engine,
      [genAi.requestModel]: redactText(attempt.model),
      [sounding.attempts]: index + 1,
      [errorType]: attempt.outcome === "ok" ? undefined : attempt.outcome,
    },
  }));
}

/** Faults of the caller are warnings; faults of engines and our own are errors. */
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
    attributes: {
      [genAi.operation]: span.attributes[genAi.operation],
      [genAi.requestModel]: span.attributes[genAi.requestModel],
      [errorType]: error.code,
      "exception.type": error.code,
      "exception.message": span.error,
      [sounding.requestId]: span.attributes[sounding.requestId],
    },
  };
}
