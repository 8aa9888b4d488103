/** Builds traces from the lines of a script; `script.ts` shows the format. */
import { parseDurationNano } from "../../src/syntax/duration.ts";
import { tokenize } from "../../src/syntax/lexer.ts";
import { takeStatic } from "../../src/syntax/parse-field.ts";
import { TokenStream } from "../../src/syntax/token-stream.ts";
import type { SpanEvent, SpanLink, TraceqlSpan, TraceqlTrace } from "../../src/storage.ts";
import type { KindValue, StaticValue, StatusValue } from "../../src/syntax/ast.ts";
import { headOf } from "./traces.ts";

/** The time from which the times of scripts count: a multiple of an hour. */
export const baseUnixNano = 999_997_200_000_000_000n;

type Attributes = Map<string, StaticValue>;

/** What `name=value` can set on a span, an event or a link. */
interface Settings {
  readonly intrinsics: ReadonlyMap<string, StaticValue>;
  /** By scope. */
  readonly attributes: ReadonlyMap<string, Attributes>;
}

type MutableSpan = Omit<TraceqlSpan, "events" | "links"> & { events: SpanEvent[]; links: SpanLink[] };

/** Spans, events and links of a trace, one a line. */
export function loadTrace(name: string, lines: readonly string[]): TraceqlTrace {
  const spans: MutableSpan[] = [];
  for (const line of lines) {
    const tokens = new TokenStream(line, tokenize(line));
    const kind = tokens.next().text;
    if (kind === "span") spans.push(readSpan(tokens));
    else if (kind === "event") spans.at(-1)!.events.push(readEvent(tokens));
    else if (kind === "link") spans.at(-1)!.links.push(readLink(tokens));
    else throw new Error(`"${line}" is no span, event or link`);
  }
  spans.sort(
    (left, right) => Number(left.startUnixNano - right.startUnixNano) || (left.spanId < right.spanId ? -1 : 1),
  );
  return { traceId: name, spans, head: headOf(spans) };
}

export function durationNano(text: string): bigint {
  const value = parseDurationNano(text);
  if (value === undefined) throw new Error(`"${text}" is no duration`);
  return value;
}

/** The word and the duration after it, if they come next. */
function takeTime(tokens: TokenStream, word: string): bigint {
  if (!tokens.isWord(word)) return 0n;
  tokens.next();
  return durationNano(tokens.next().text);
}

function readSpan(tokens: TokenStream): MutableSpan {
  const spanId = tokens.next().text;
  const parentSpanId = tokens.isWord("of") ? (tokens.next(), tokens.next().text) : "";
  const startUnixNano = baseUnixNano + takeTime(tokens, "at");
  const durationOfSpan = takeTime(tokens, "for");
  const { attributes, intrinsics } = readSettings(tokens);
  const text = (name: string, otherwise: string): string => {
    const value = intrinsics.get(name);
    return value === undefined ? otherwise : String((value as { readonly value: unknown }).value);
  };
  return {
    spanId,
    parentSpanId,
    startUnixNano,
    durationNano: durationOfSpan,
    name: text("name", ""),
    status: text("status", "unset") as StatusValue,
    statusMessage: text("statusMessage", ""),
    kind: text("kind", "unspecified") as KindValue,
    attributes: attributes.get("span") ?? new Map(),
    resource: attributes.get("resource") ?? new Map(),
    scope: {
      name: text("instrumentation:name", ""),
      version: text("instrumentation:version", ""),
      attributes: attributes.get("instrumentation") ?? new Map(),
    },
    events: [],
    links: [],
  };
}

function readEvent(tokens: TokenStream): SpanEvent {
  const name = nextString(tokens);
  const timeSinceStartNano = takeTime(tokens, "at");
  return { name, timeSinceStartNano, attributes: readSettings(tokens).attributes.get("event") ?? new Map() };
}

function nextString(tokens: TokenStream): string {
  const token = tokens.next();
  if (token.kind !== "string") throw new Error(`expected a string, got ${token.text}`);
  return token.value;
}

function readLink(tokens: TokenStream): SpanLink {
  const [traceId, spanId] = [nextString(tokens), nextString(tokens)];
  return { traceId, spanId, attributes: readSettings(tokens).attributes.get("link") ?? new Map() };
}

function readSettings(tokens: TokenStream): Settings {
  const intrinsics = new Map<string, StaticValue>();
  const attributes = new Map<string, Attributes>();
  while (tokens.peek().kind !== "end") {
    const token = tokens.next();
    const name = token.text.endsWith(":") ? token.text + tokens.next().text : token.text;
    tokens.expectSign("=");
    const value = takeStatic(tokens)?.value;
    if (value === undefined) throw tokens.unexpected("a value");
    if (token.kind === "attribute") {
      const scope = token.scope ?? "span";
      const known = attributes.get(scope) ?? new Map<string, StaticValue>();
      attributes.set(scope, known.set(token.name, value));
    } else {
      intrinsics.set(name, value);
    }
  }
  return { intrinsics, attributes };
}
