/** Reads the streams of a push request in JSON: `{"streams": [{"stream": {…}, "values": [["<ns>", "<line>", {…}]]}]}`. */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { checkedLabels, type PushEntry, type PushStream } from "./push-stream.ts";

/** @throws AppError invalid_request that names the invalid member, also while the streams and their entries are read */
export function* readJsonPush(body: unknown): Generator<PushStream> {
  const streams = listOf(memberOf(body, "streams"), "streams");
  for (const [index, stream] of streams.entries()) {
    const at = `streams[${index}]`;
    const labels = checkedLabels(textsOf(memberOf(stream, "stream"), `${at}.stream`), `${at}.stream`);
    yield { labels, entries: entriesOf(listOf(memberOf(stream, "values"), `${at}.values`), `${at}.values`) };
  }
}

function* entriesOf(values: readonly unknown[], path: string): Generator<PushEntry> {
  for (const [index, value] of values.entries()) {
    const at = `${path}[${index}]`;
    const [unixNano, line, metadata, ...more] = listOf(value, at);
    if (more.length > 0) throw wrong(at, value, "a time, a line and structured metadata");
    if (typeof unixNano !== "string" || !/^\d{1,19}$/.test(unixNano)) {
      throw wrong(`${at}[0]`, unixNano, "nanoseconds since 1970 as a string");
    }
    if (typeof line !== "string") throw wrong(`${at}[1]`, line, "the line as a string");
    yield { unixNano, line, metadata: metadata === undefined ? [] : textsOf(metadata, `${at}[2]`) };
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw wrong(at, value, "an array");
}

function textsOf(value: unknown, at: string): [string, string][] {
  if (!isObject(value)) throw wrong(at, value, "an object");
  return Object.entries(value).map(([name, text]) => {
    if (typeof text !== "string") throw wrong(`${at}.${name}`, text, "a string");
    return [name, text];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(at: string, value: unknown, expected: string): AppError {
  const seen = value === undefined ? "is missing" : `is ${showValue(value)}`;
  return new AppError("invalid_request", `${at} ${seen}; expected ${expected}.`, { param: at });
}
