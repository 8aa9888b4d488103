/** Metrics that are read when Prometheus scrapes, in place of being counted. */
import { Gauge, type Registry } from "prom-client";

export interface ObservableGauges {
  /** `readBytes` tells how much telemetry waits to be written. */
  watchTelemetryQueue(readBytes: () => number): void;
  /** `readCount` tells how many statements of queries wait for the telemetry store. */
  watchWaitingReads(readCount: () => number): void;
  /** `readBytes` tells how much of the disk of the data directory is free. */
  watchDisk(readBytes: () => number): void;
  /** `readChecks` gives the checks of `/readyz`: each name with what is wrong, if anything. */
  watchChecks(readChecks: () => Promise<Readonly<Record<string, string | undefined>>>): void;
}

export function createObservableGauges(registers: Registry[]): ObservableGauges {
  const watch = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) });
  };
  return {
    watchTelemetryQueue: (readBytes) =>
      watch("sounding_telemetry_queue_bytes", "Bytes of rows that wait to be written or are on their way.", readBytes),
    watchWaitingReads: (readCount) =>
      watch(
        "sounding_telemetry_waiting_reads",
        "Statements of queries that wait for a place among those that read from the telemetry store.",
        readCount,
      ),
    watchDisk: (readBytes) =>
      watch("sounding_data_disk_free_bytes", "Free bytes on the disk of the data directory.", readBytes),
    watchChecks(readChecks) {
      const gauge: Gauge<"check"> = new Gauge({
        name: "sounding_check_ok",
        help: "Checks of /readyz: 1 when well, 0 when not.",
        labelNames: ["check"],
        registers,
        async collect() {
          for (const [check, problem] of Object.entries(await readChecks()))
            gauge.set({ check }, problem === undefined ? 1 : 0);
        },
      });
    },
  };
}
