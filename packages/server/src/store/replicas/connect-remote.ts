/** Connects to a ClickHouse server, or to a cluster by the addresses of several of its servers. */
import type { TelemetrySettings } from "../../config/telemetry.ts";
import type { Logger } from "../../logger.ts";
import { type Connection, createConnection } from "../connection.ts";
import type { Layout } from "../table-layout.ts";
import { createReplicaConnection } from "./replica-connection.ts";
import { Replica } from "./replica.ts";

export interface RemoteOptions {
  readonly clickhouse: TelemetrySettings["clickhouse"];
  /** To each address. */
  readonly maximumConnections: number;
  readonly logger: Logger;
}

/** The addresses of the setting `telemetry.clickhouse.url`; none for the embedded store. */
export function addressesOf({ url }: Pick<TelemetrySettings["clickhouse"], "url">): readonly string[] {
  if (url === undefined) return [];
  return typeof url === "string" ? [url] : url;
}

/** The form of the tables of a remote server. */
export function remoteLayout(clickhouse: TelemetrySettings["clickhouse"]): Layout {
  const {
    cluster,
    cold_after_days: coldAfterDays,
    cold_volume: coldVolume = "cold",
    storage_policy: storagePolicy,
  } = clickhouse;
  if (storagePolicy === undefined) return { cluster };
  return { cluster, storage: { storagePolicy, coldAfterDays, coldVolume } };
}

/** Opens no socket until it is used. */
export function connectRemote({ clickhouse, logger, maximumConnections }: RemoteOptions): Connection {
  const addresses = addressesOf(clickhouse);
  const [first] = addresses;
  if (addresses.length === 1) return createConnection({ ...clickhouse, url: first!, maximumConnections });
  if (clickhouse.cluster === undefined) {
    logger.warn(
      { addresses },
      "telemetry.clickhouse.url has several addresses, but telemetry.clickhouse.cluster is not set: all addresses must lead to the same tables",
    );
  }
  return createReplicaConnection(
    addresses.map((url) => {
      const connection = createConnection({ ...clickhouse, url, maximumConnections });
      const pinger = createConnection({ ...clickhouse, url, maximumConnections: 1 });
      return new Replica({ url, connection, pinger, logger });
    }),
  );
}
