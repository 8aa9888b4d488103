/** `sounding restore`: restores an installation, or one organization, from what `sounding backup` wrote. */
import type { BackupStorage } from "@sounding/server";
import { endpointOption, openLocation, s3Description } from "../backup-location.ts";
import { UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { configurationOption, createRowProgress, loadConfiguration } from "../maintenance.ts";
import { writeJson, writeLine } from "../output.ts";
import { createProgress } from "../progress.ts";
import { formatCount } from "../terminal/numbers.ts";

export const restoreCommand = command({
  name: "restore",
  summary: "Restore an installation or one organization from a backup",
  description: `Without --organization, the backup's whole installation is restored: stop the server first, and use a data directory and
databases without organizations and telemetry. If it is interrupted, run the same command again: it continues.

With --organization, or from the backup of one organization, the organization is added, also while the server runs. It must not
exist, or be archived; its keys are valid again, except operators' keys.

The databases are those of the configuration, whatever they were when the backup was made: SQLite or PostgreSQL, the embedded
telemetry store or ClickHouse. All checksums of a folder are compared before anything is written; those of objects in S3 when each is
read, to read it only once. Restore only backups that you trust.

${s3Description}`,
  arguments: [{ name: "location", description: "The backup: a folder, or s3://BUCKET/PREFIX.", required: true }],
  options: {
    ...configurationOption,
    ...endpointOption,
    organization: {
      type: "string",
      short: "o",
      value: "NAME",
      description: "Name or ID of the only organization to restore. Default: everything in the backup.",
    },
    check: {
      type: "boolean",
      description: "Only check that the backup is complete, undamaged and of a known version.",
    },
  },
  examples: [
    ["sounding restore backups/monday --check", "Check a backup."],
    ["sounding restore backups/monday --config restored.yaml", "Restore everything into an empty installation."],
    ["sounding restore backups/monday --organization acme", "Restore an organization that was archived."],
    ["sounding restore s3://backups/monday --check", "Check a backup in S3."],
  ],
  async run({ values, positionals, json, io }) {
    if (values.check === true && values.organization !== undefined)
      throw new UsageError("--organization and --check cannot be combined");
    await using storage = await openLocation(positionals[0]!, values["s3-endpoint"], io);
    if (values.check === true) return await check(storage, { json, io });
    const { restoreBackup } = await import("@sounding/server");
    const { config } = await loadConfiguration(values.config, io);
    const progress = createRowProgress(io, json);
    const { manifest, organization, rows } = await restoreBackup({
      config,
      storage,
      organization: values.organization,
      signal: io.signal,
      onProgress: progress.show,
    }).finally(progress.end);
    if (json) {
      await writeJson(io.stdout, { id: manifest.id, organization: organization ?? null, telemetry_rows: rows });
      return exitCodes.ok;
    }
    const what =
      organization === undefined ? "the installation" : `the organization ${JSON.stringify(organization.name)}`;
    await writeLine(
      io.stdout,
      `Restored ${what} from the backup of ${manifest.created_at}, with ${formatCount(rows)} rows of telemetry.`,
    );
    if (organization === undefined && manifest.configuration !== null) {
      await writeLine(
        io.stdout,
        `The configuration was not changed. The backup's is ${storage.location}/configuration/sounding.yaml.`,
      );
    }
    return exitCodes.ok;
  },
});

async function check(
  storage: BackupStorage,
  { io, json }: { readonly io: CommandIo; readonly json: boolean },
): Promise<number> {
  const { checkBackup } = await import("@sounding/server");
  const progress = createProgress(io, json);
  const {
    created_at: createdAt,
    id,
    organization,
    telemetry,
  } = await checkBackup({
    storage,
    signal: io.signal,
    onChecked: (path, doneBytes, totalBytes) => progress.show(path, { phase: "verifying", doneBytes, totalBytes }),
  }).finally(progress.end);
  if (json) await writeJson(io.stdout, { id, created_at: createdAt, organization, valid: true });
  else {
    const what =
      organization === null ? "a whole installation" : `the organization ${JSON.stringify(organization.name)}`;
    const files = formatCount(telemetry?.files.length ?? 0);
    await writeLine(
      io.stdout,
      `${storage.location} is a complete backup of ${what}, made ${createdAt}, with ${files} files of telemetry.`,
    );
  }
  return exitCodes.ok;
}
