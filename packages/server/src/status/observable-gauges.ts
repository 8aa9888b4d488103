/** Gauges whose values are read at each scrape. */
import { Gauge, type Registry } from "prom-client";

export interface ObservableGauges {
  /** @param readBytes the telemetry that waits to be written */
  watchTelemetryQueue(readBytes: () => number): void;
  /** @param readBytes the acknowledged telemetry that is not in the store yet */
  watchTelemetryJournal(readBytes: () => number): void;
  /** @param readCount statements of queries that wait for the telemetry store */
  watchWaitingReads(readCount: () => number): void;
  /** @param readAddresses the addresses of the telemetry store, if it has several, and whether each is in service */
  watchStoreAddresses(readAddresses: () => readonly { readonly url: string; readonly isUp: boolean }[]): void;
  /** Counts of what clients hold open, read at each scrape. */
  watchConnections(counts: ConnectionCounts): void;
  /** @param readBytes free space on the disk of the data directory */
  watchDisk(readBytes: () => number): void;
  /** @param readChecks the checks of `/readyz`: each name with its problem, if any */
  watchChecks(readChecks: () => Promise<Readonly<Record<string, string | undefined>>>): void;
}

export interface ConnectionCounts {
  readonly connectionLimits: { readonly count: number; readonly refused: number };
  readonly openRequests: { readonly count: number };
}

export function createObservableGauges(registers: Registry[]): ObservableGauges {
  const watch = (name: string, help: string, read: () => number, aggregator: "sum" | "min" = "sum"): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, aggregator, collect: () => gauge.set(read()) });
  };
  return {
    watchTelemetryQueue: (readBytes) =>
      watch("sounding_telemetry_queue_bytes", "Bytes of telemetry rows that are queued or being written.", readBytes),
    watchTelemetryJournal: (readBytes) =>
      watch(
        "sounding_telemetry_journal_bytes",
        "Bytes of acknowledged telemetry rows in the journal that are not in the store yet.",
        readBytes,
      ),
    watchWaitingReads: (readCount) =>
      watch(
        "sounding_telemetry_waiting_reads",
        "Query statements that wait for a place to read from the telemetry store.",
        readCount,
      ),
    watchConnections({ connectionLimits, openRequests }) {
      watch("sounding_connections", "Open connections of clients, whatever they speak.", () => connectionLimits.count);
      watch(
        "sounding_open_requests",
        "Requests, gRPC calls and WebSockets with a key that are being received or served.",
        () => openRequests.count,
      );
      watch(
        "sounding_refused_connections",
        "Connections that were closed at once because of a limit, since the start.",
        () => connectionLimits.refused,
      );
    },
    watchStoreAddresses(readAddresses) {
      const gauge: Gauge<"address"> = new Gauge({
        name: "sounding_telemetry_store_address_up",
        help: "Whether an address of ClickHouse is in service: 1 or 0. Absent unless there are several.",
        labelNames: ["address"],
        aggregator: "min",
        registers,
        collect() {
          for (const { isUp, url } of readAddresses()) gauge.set({ address: url }, isUp ? 1 : 0);
        },
      });
    },
    watchDisk: (readBytes) =>
      watch("sounding_data_disk_free_bytes", "Free bytes on the disk of the data directory.", readBytes, "min"),
    watchChecks(readChecks) {
      const gauge: Gauge<"check"> = new Gauge({
        name: "sounding_check_ok",
        help: "Checks of /readyz: 1 if passed, 0 if failed.",
        labelNames: ["check"],
        aggregator: "min",
        registers,
        async collect() {
          for (const [check, problem] of Object.entries(await readChecks()))
            gauge.set({ check }, problem === undefined ? 1 : 0);
        },
      });
    },
  };
}
