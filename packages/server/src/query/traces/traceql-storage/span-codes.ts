/** The names of status and kind of spans, at the positions of their numbers in OTLP. */
import type { KindValue, StatusValue } from "@sounding/traceql/syntax/ast";

/** OTLP's Status.StatusCode. */
export const statusNames: readonly StatusValue[] = ["unset", "ok", "error"];
/** OTLP's Span.SpanKind. */
export const kindNames: readonly KindValue[] = ["unspecified", "internal", "server", "client", "producer", "consumer"];
