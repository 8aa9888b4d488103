/**
 * Converts pushed streams to OTLP, so that they are checked, stored and acknowledged like all other logs. A stream's labels
 * become the attributes of a resource whose schema URL marks it as a stream, so that LogQL finds the same labels again.
 */
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { logExport } from "../../protobuf/otlp-messages.ts";
import { CooperativeYield, longStep } from "../../scheduling/cooperative-yield.ts";
import { pushedStreamSchema } from "../../store/schema.ts";
import type { PushEntry, PushStream } from "./push-stream.ts";

/** Entries and characters that are read without yielding, whether they are kept or repeat an earlier entry. */
const entriesPerStep = 500;
const charactersPerStep = 262_144;

/**
 * The bytes of an ExportLogsServiceRequest.
 * @param charge takes the memory of the bytes; throws if it is too much
 * @throws AppError invalid_request from reading the streams
 */
export async function toOtlp(streams: Iterable<PushStream>, charge: (bytes: number) => void): Promise<Buffer> {
  // Messages of the same type that follow one another are one message with all their repeated fields.
  const parts: Buffer[] = [];
  const yielder = new CooperativeYield();
  for (const { entries, labels } of streams) {
    const streamLevel = levelIn(labels);
    let logRecords: unknown[] = [];
    let entriesRead = 0;
    let charactersRead = 0;
    const encode = (): void => {
      entriesRead = 0;
      charactersRead = 0;
      if (logRecords.length === 0) return;
      const resource = { attributes: attributesOf([...labels, ...serviceOf(labels)]) };
      const group = { resource, schemaUrl: pushedStreamSchema, scopeLogs: [{ logRecords }] };
      const part = encodeMessage(logExport.request, { resourceLogs: [group] });
      charge(part.length);
      parts.push(part);
      logRecords = [];
    };
    const isRepeated = repetitions(charge);
    for (const entry of entries) {
      if (!isRepeated(entry)) logRecords.push(recordOf(entry, streamLevel));
      entriesRead += 1;
      charactersRead += charactersOf(entry);
      if (entriesRead >= entriesPerStep || charactersRead >= charactersPerStep) {
        encode();
        if (yielder.isDue(longStep)) await yielder.yield();
      }
    }
    encode();
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return Buffer.concat(parts);
}

function charactersOf({ line, metadata }: PushEntry): number {
  return metadata.reduce((sum, [name, value]) => sum + name.length + value.length, line.length);
}

/**
 * Whether an entry of a stream has the time, line and metadata of an earlier one: Loki keeps one of them.
 * @param charge takes the memory of what is remembered
 */
function repetitions(charge: (bytes: number) => void): (entry: PushEntry) => boolean {
  const keyOf = ({ line, metadata }: PushEntry): string => JSON.stringify([line, ...metadata]);
  let first: PushEntry | undefined;
  const seen = new Set<string>();
  return (entry) => {
    if (first?.unixNano !== entry.unixNano) {
      first = entry;
      seen.clear();
      return false;
    }
    if (seen.size === 0) seen.add(keyOf(first));
    const key = keyOf(entry);
    if (seen.has(key)) return true;
    charge(key.length);
    seen.add(key);
    return false;
  };
}

/** Of these labels, the first names the service, as in Loki. */
const serviceLabels = [
  "service_name",
  "service",
  "app",
  "application",
  "app_name",
  "name",
  "app_kubernetes_io_name",
  "container",
  "container_name",
  "k8s_container_name",
  "component",
  "workload",
  "job",
  "k8s_job_name",
];

function serviceOf(labels: ReadonlyMap<string, string>): [string, string][] {
  const label = serviceLabels.find((name) => labels.has(name));
  return label === undefined ? [] : [["service.name", labels.get(label)!]];
}

/** Labels and structured metadata that tell the severity. */
const levelNames = ["level", "severity", "detected_level", "lvl", "log_level"];
/** OTLP's severity numbers of the words of common loggers. */
const severityNumbers: readonly (readonly [RegExp, number])[] = [
  [/^trace$/i, 1],
  [/^(?:debug|dbug)$/i, 5],
  [/^(?:info|information|informational|notice)$/i, 9],
  [/^(?:warn|warning)$/i, 13],
  [/^(?:err|eror|error)$/i, 17],
  [/^(?:fatal|crit|critical|alert|emerg|emergency|panic)$/i, 21],
];

function levelIn(values: ReadonlyMap<string, string>): number | undefined {
  const word = levelNames.map((name) => values.get(name)).find((value) => value !== undefined);
  return word === undefined ? undefined : severityNumbers.find(([pattern]) => pattern.test(word.trim()))?.[1];
}

function recordOf({ line, metadata, unixNano }: PushEntry, streamLevel: number | undefined): unknown {
  const values = new Map(metadata);
  const traceId = idOf(values, "trace_id", 32);
  const spanId = idOf(values, "span_id", 16);
  return {
    timeUnixNano: unixNano,
    severityNumber: levelIn(values) ?? streamLevel,
    body: { stringValue: line.toWellFormed() },
    attributes: attributesOf(values),
    traceId,
    spanId,
  };
}

/** Takes an ID from the metadata, if it is one: the store has a column for it. */
function idOf(values: Map<string, string>, name: string, digits: number): string | undefined {
  const value = values.get(name);
  if (value?.length !== digits || !/^[\da-f]+$/i.test(value)) return undefined;
  values.delete(name);
  return value;
}

function attributesOf(entries: Iterable<readonly [name: string, value: string]>): unknown[] {
  return Array.from(entries, ([key, value]) => ({
    key: key.toWellFormed(),
    value: { stringValue: value.toWellFormed() },
  }));
}
