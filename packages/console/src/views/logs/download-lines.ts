/** Saves log lines as a file with one JSON object per line. */
import { entryJson, type LogEntry } from "./log-entry.ts";

export function downloadLines(entries: readonly LogEntry[]): void {
  const parts = entries.map((entry) => `${JSON.stringify(entryJson(entry))}\n`);
  const url = URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `logs-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.ndjson`;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
