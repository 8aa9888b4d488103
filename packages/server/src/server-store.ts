/** Opens the telemetry store as the configuration and the server's role say, and lets the metrics observe it and its disk. */
import { resolve } from "node:path";
import type { Config } from "./config/config.ts";
import type { TelemetryCipher } from "./encryption/telemetry-cipher.ts";
import type { Logger } from "./logger.ts";
import { takes } from "./server-role.ts";
import { DiskSpace } from "./status/disk-space.ts";
import type { Metrics } from "./status/metrics.ts";
import { createDisabledStore } from "./store/disabled-store.ts";
import { openStore } from "./store/open-store.ts";
import type { StoreSharing } from "./store/store-sharing.ts";
import type { Store } from "./store/store.ts";
import type { ControlDatabase } from "./tenancy/control-database.ts";
import { startSingletonJob } from "./tenancy/singleton-job.ts";

interface StoreParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly disk: DiskSpace;
  readonly control: ControlDatabase;
  readonly sharing: { readonly store: StoreSharing } | undefined;
  readonly cipher: TelemetryCipher;
}

export async function watchDisk(storage: Config["storage"], metrics: Metrics): Promise<DiskSpace> {
  const disk = await DiskSpace.watch({
    directory: resolve(storage.data_dir),
    warningBytes: storage.warning_free_bytes,
    minimumBytes: storage.minimum_free_bytes,
  });
  metrics.watchDisk(() => disk.freeBytes);
  return disk;
}

/** @throws AppError internal if the store's folder cannot be created */
export async function openServerStore(parts: StoreParts): Promise<Store> {
  const { config, logger, metrics, disk, control, sharing, cipher } = parts;
  const store = config.telemetry.enabled
    ? await openStore({
        settings: config.telemetry,
        dataDirectory: resolve(config.storage.data_dir),
        logger,
        cipher,
        observe: (report) => metrics.observeTelemetryWrite(report),
        requireRoom: () => disk.requireRoom(),
        sharing: sharing?.store,
        runJob: takes(config.server.role, "telemetry_read")
          ? (name, run) => startSingletonJob({ control, name, logger, run })
          : undefined,
      })
    : createDisabledStore();
  metrics.watchTelemetryQueue(() => store.queuedBytes());
  metrics.watchTelemetryJournal(() => store.journalBytes());
  metrics.watchWaitingReads(() => store.waitingReads());
  metrics.watchStoreAddresses(() => store.addresses());
  return store;
}
