/** Writes the messages of a tail. https://grafana.com/docs/loki/latest/reference/loki-http-api/#stream-logs */
import type { LogEntry } from "@sounding/logql/query-result";
import type { Labels } from "@sounding/promql/series/labels";
import { labelsJson } from "../../metrics/prometheus-json.ts";
import { entryJson } from "../result-json.ts";

export interface TailEntry extends LogEntry {
  /** Of its stream in the result. */
  readonly labels: Labels;
}

/** An entry that was not sent: the client was too slow, or the entry was one of too many at a time. */
export interface DroppedEntry {
  readonly unixNano: bigint;
  readonly labels: Labels;
}

export interface TailMessage {
  /** In the order in which they are shown: a new stream begins where the labels change. */
  readonly entries: readonly TailEntry[];
  readonly dropped: readonly DroppedEntry[];
  readonly categorizesLabels: boolean;
}

export function messageText({ categorizesLabels, dropped, entries }: TailMessage): string {
  const streams: { readonly stream: unknown; readonly values: unknown[] }[] = [];
  let key: string | undefined;
  for (const entry of entries) {
    if (entry.labels.key !== key) streams.push({ stream: labelsJson(entry.labels), values: [] });
    ({ key } = entry.labels);
    streams.at(-1)!.values.push(entryJson(entry, categorizesLabels));
  }
  return JSON.stringify({
    streams,
    ...(dropped.length === 0
      ? {}
      : {
          dropped_entries: dropped.map(({ labels, unixNano }) => ({
            timestamp: String(unixNano),
            labels: labelsJson(labels),
          })),
        }),
    ...(categorizesLabels ? { encodingFlags: ["categorize-labels"] } : {}),
  });
}
