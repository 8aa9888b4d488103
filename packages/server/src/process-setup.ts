/** What each process that serves requests sets up for itself: garbage collection, telemetry of the process. */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { wantsProcessTelemetry } from "./config/process-telemetry.ts";
import type { Logger } from "./logger.ts";
import type { ProcessTelemetry } from "./telemetry/process/process-telemetry.ts";

/**
 * Makes V8 count buffers as heap when it schedules garbage collections. By default every few dozen megabytes of buffers cause
 * a full collection, and telemetry bodies reach that in half a second. docs/adr/0027-cpu-time-of-a-call.md
 */
export function countBuffersAsHeap(): void {
  // The flag exists in V8 13, the version of Node 24.
  if (process.versions.v8.startsWith("13.")) setFlagsFromString("--external-memory-accounted-in-global-limit");
}

/** Starts telemetry of the process if the environment sets an OTLP endpoint. A failure does not stop the server. */
export async function observeProcess(logger: Logger) {
  let telemetry: ProcessTelemetry | undefined;
  try {
    if (wantsProcessTelemetry()) {
      const { startProcessTelemetry } = await import("./telemetry/process/process-telemetry.ts");
      telemetry = await startProcessTelemetry({ version: readVersion(), logger });
    }
  } catch (error) {
    logger.warn({ error }, "process telemetry is off because OpenTelemetry's SDK could not be started");
  }
  return { telemetry, close: async () => telemetry?.close() };
}

export function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
