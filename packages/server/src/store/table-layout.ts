/**
 * Generates what differs between one server, or the embedded store, and a cluster: a cluster differs in the name of the table with
 * the rows, its engine, and the Distributed table in front of it.
 */

/** Where a remote server stores rows. */
export interface StorageTiers {
  readonly storagePolicy: string;
  /** Absent: the policy alone decides when rows move. */
  readonly coldAfterDays: number | undefined;
  readonly coldVolume: string;
}

export interface Layout {
  /** The cluster's name in the servers' configuration; undefined for one server or the embedded store. */
  readonly cluster: string | undefined;
  /** Absent: the server's default policy, or what its administrator has set. */
  readonly storage?: StorageTiers | undefined;
}

/** The clause of statements that concern a whole cluster. Its name holds no quote or backslash in it (the setting's pattern forbids them too). */
export function onCluster({ cluster }: Layout): string {
  if (cluster === undefined) return "";
  if (!/^[\w.-]+$/.test(cluster)) throw new TypeError(`${JSON.stringify(cluster)} cannot be the name of a cluster.`);
  return ` ON CLUSTER '${cluster}'`;
}

/** The table with the rows. On a cluster, the Distributed table has the plain name. */
export function storedName(name: string, { cluster }: Layout): string {
  return cluster === undefined ? name : `${name}_local`;
}

export function engine(kind: string, { cluster }: Layout, version: string | undefined): string {
  const engineArguments = version === undefined ? [] : [version];
  if (cluster === undefined) return `${kind}(${engineArguments.join(", ")})`;
  const replicated = ["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'", ...engineArguments];
  return `Replicated${kind}(${replicated.join(", ")})`;
}

/**
 * Settings of the tables with rows: inserts are synced to disk before they are acknowledged, and a repeated insert with the
 * same token is dropped. Replicated tables have their own deduplication window.
 */
export function tableSettings({ cluster, storage }: Layout): string {
  const settings = ["fsync_after_insert = 1", "fsync_part_directory = 1", "merge_with_ttl_timeout = 3600"];
  if (cluster === undefined) settings.push("non_replicated_deduplication_window = 1000");
  if (storage !== undefined) settings.push(`storage_policy = '${storage.storagePolicy}'`);
  return settings.join(", ");
}

export function distributed(name: string, layout: Layout, shardColumns: readonly string[]): string[] {
  if (layout.cluster === undefined) return [];
  const key = `cityHash64(${shardColumns.join(", ")})`;
  return [
    `CREATE TABLE IF NOT EXISTS ${name}${onCluster(layout)} AS ${storedName(name, layout)} ENGINE = Distributed('${layout.cluster}', currentDatabase(), '${storedName(name, layout)}', ${key})`,
  ];
}
