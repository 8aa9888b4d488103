/** The turns of a conversation: its traces, with what was asked and answered in each if content is recorded. */
import type { TracesResult } from "@sounding/client";
import { ApiError, requestJson } from "../../api/request.ts";
import { plainAttributes, type KeyValue } from "../../genai/any-value.ts";
import { readContent, type Message, type RecordedContent, type RecordingSpan } from "../../genai/messages.ts";
import type { Page, PagedListOptions } from "../../telemetry/paged-list.ts";

type Trace = TracesResult["traces"][number];

export interface Turn {
  readonly trace: Trace;
  /** What the user asked last; undefined if no span recorded it. */
  readonly prompt: Message | undefined;
  /** What was answered in the end. */
  readonly answer: Message | undefined;
  readonly toolCalls: number;
  /** Whether a model was called whose prompt and answer were not recorded. */
  readonly lacksContent: boolean;
}

/** Turns have all their spans, so that pages are small. */
const pageSize = 10;

/** @param start the beginning of the time range, an RFC 3339 time */
export function turnsQuestion(conversationId: string, start: string): PagedListOptions<Turn> {
  const end = new Date().toISOString();
  const filters = { trace: "all_traces", conversation_id: conversationId, start };
  const fetchPage = async (cursor: string, detail: boolean, signal: AbortSignal): Promise<Page<Turn>> => {
    // The first page ends now, also when it is loaded again.
    const json = { ...filters, end: cursor === "" ? undefined : end, limit: pageSize, cursor, detail };
    const { traces, next_cursor } = await requestJson<TracesResult>("observability/traces", { json, signal });
    return { items: traces.map(toTurn), next: next_cursor ?? undefined };
  };
  return {
    idOf: ({ trace }) => trace.traceID,
    async fetchPage(cursor, signal) {
      try {
        return await fetchPage(cursor, true, signal);
      } catch (error) {
        // The traces have more spans than one response can hold.
        if (error instanceof ApiError && error.param === "limit") return fetchPage(cursor, false, signal);
        throw error;
      }
    },
  };
}

interface TempoSpan extends RecordingSpan {
  readonly parentSpanId?: string;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly attributes?: readonly KeyValue[];
}

interface RecordedSpan {
  readonly span: TempoSpan;
  readonly operation: unknown;
  readonly content: RecordedContent | undefined;
}

export function toTurn(trace: Trace): Turn {
  const { batches = [], ...head } = trace;
  const spans = batches
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans as unknown as TempoSpan[]))
    .sort((left, right) => compareNanos(left.startTimeUnixNano, right.startTimeUnixNano))
    .map((span): RecordedSpan => ({
      span,
      operation: plainAttributes(span.attributes)["gen_ai.operation.name"],
      content: readContent(span),
    }));
  const speaking = spans.filter(({ content, operation }) => content !== undefined && operation !== "execute_tool");
  return {
    // The spans themselves are not needed any longer.
    trace: head,
    prompt: firstPrompt(speaking),
    answer: lastAnswer(speaking),
    toolCalls: spans.filter(({ operation }) => operation === "execute_tool").length,
    lacksContent: speaking.length === 0 && trace.summary.models.length > 0,
  };
}

/** The last message of the user in the earliest prompt. */
function firstPrompt(spans: readonly RecordedSpan[]): Message | undefined {
  for (const { content } of spans) {
    const asked = content!.input.findLast(({ role, parts }) => role === "user" && parts.some(isSpoken));
    if (asked !== undefined) return asked;
  }
  return spans[0]?.content!.input.at(-1);
}

/** The answer that ended last and says something; of those that call tools only, the last. */
function lastAnswer(spans: readonly RecordedSpan[]): Message | undefined {
  const answered = spans
    .filter(({ content }) => content!.output.length > 0)
    .toSorted((left, right) => compareNanos(left.span.endTimeUnixNano, right.span.endTimeUnixNano))
    .flatMap(({ content }) => content!.output);
  return answered.findLast(({ parts }) => parts.some(isSpoken)) ?? answered.at(-1);
}

function isSpoken({ kind }: Message["parts"][number]): boolean {
  return kind === "text" || kind === "media";
}

function compareNanos(left = "0", right = "0"): number {
  const [a, b] = [BigInt(left), BigInt(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}
