/** Reads the streams of Loki's PushRequest. https://github.com/grafana/loki/blob/main/pkg/push/push.proto */
import { showValue } from "../../api/validate.ts";
import { QueryError } from "@sounding/promql/query-error";
import { AppError } from "../../errors.ts";
import type { LabelMatcher } from "@sounding/logql/syntax/ast";
import { parseLogql } from "@sounding/logql/syntax/parse-query";
import { MessageScan, type RangeList } from "../../protobuf/message-scan.ts";
import { message } from "../../protobuf/message-type.ts";
import { int64At, uint32At } from "../../protobuf/numbers.ts";
import { textOf } from "../../protobuf/scan-fields.ts";
import { checkedLabels, type PushEntry, type PushStream } from "./push-stream.ts";

const timestamp = message("google.protobuf.Timestamp", { seconds: [1, "int64"], nanos: [2, "int32"] });
const labelPair = message("LabelPairAdapter", { name: [1, "string"], value: [2, "string"] });
const entry = message("EntryAdapter", {
  timestamp: [1, timestamp],
  line: [2, "string"],
  structuredMetadata: [3, labelPair, "repeated"],
});
const stream = message("StreamAdapter", { labels: [1, "string"], entries: [2, entry, "repeated"] });
const pushRequest = message("PushRequest", { streams: [1, stream, "repeated"] });

/** @throws AppError invalid_request for bytes that are no request, also while the streams and their entries are read */
export function* readProtobufPush(bytes: Buffer): Generator<PushStream> {
  const request = new MessageScan(pushRequest);
  request.read(bytes, 0, bytes.length);
  const streams = request.list(pushRequest.fields.streams);
  const scan = new MessageScan(stream);
  for (let index = 0; index < streams.length; index += 1) {
    scan.read(bytes, streams.start(index), streams.end(index));
    const at = `streams[${index}]`;
    const text = textOf(scan, stream.fields.labels);
    yield {
      labels: checkedLabels(labelsIn(text, at), at),
      entries: entriesOf(bytes, scan.list(stream.fields.entries)),
    };
  }
}

/** The labels of a text such as `{app="shop", level="info"}`. */
function labelsIn(text: string, at: string): [string, string][] {
  return matchersIn(text, at).map(({ name, operator, value }) => {
    if (operator === "=") return [name, value];
    throw new AppError("invalid_request", `${at}.labels has ${name}${operator}; expected ${name}="…".`, { param: at });
  });
}

function matchersIn(text: string, at: string): readonly LabelMatcher[] {
  try {
    const query = parseLogql(text);
    if (query.kind === "log-query" && query.stages.length === 0) return query.matchers;
  } catch (cause) {
    if (!(cause instanceof QueryError)) throw cause;
  }
  const shown = showValue(text);
  throw new AppError("invalid_request", `${at}.labels is ${shown}; expected labels such as {app="shop"}.`, {
    param: at,
  });
}

/** The ranges are valid until the next stream is read. */
function* entriesOf(bytes: Buffer, entries: RangeList): Generator<PushEntry> {
  const scan = new MessageScan(entry);
  const pair = new MessageScan(labelPair);
  const time = new MessageScan(timestamp);
  for (let index = 0; index < entries.length; index += 1) {
    scan.read(bytes, entries.start(index), entries.end(index));
    const { starts, ends } = scan;
    time.read(bytes, starts[entry.fields.timestamp]!, ends[entry.fields.timestamp]!);
    const pairs = scan.list(entry.fields.structuredMetadata);
    const metadata: [string, string][] = [];
    for (let each = 0; each < pairs.length; each += 1) {
      pair.read(bytes, pairs.start(each), pairs.end(each));
      metadata.push([textOf(pair, labelPair.fields.name), textOf(pair, labelPair.fields.value)]);
    }
    yield { unixNano: unixNanoOf(time), line: textOf(scan, entry.fields.line), metadata };
  }
}

/** Times before 1970 become 1970, which is older than any retention. */
function unixNanoOf({ bytes, starts }: MessageScan): string {
  const { nanos, seconds } = timestamp.fields;
  const whole = starts[seconds] === 0 ? 0 : int64At(bytes, starts[seconds]!);
  const fraction = starts[nanos] === 0 ? 0 : uint32At(bytes, starts[nanos]!);
  const unixNano =
    BigInt(Math.min(Math.max(whole, 0), latestSeconds)) * 1_000_000_000n + BigInt(Math.min(fraction, 999_999_999));
  return String(unixNano);
}

/** 2^63 nanoseconds. */
const latestSeconds = 9_223_372_036;
