/** `sounding restore`: restores an installation, or one organization, from a folder that `sounding backup` wrote. */
import { resolve } from "node:path";
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
telemetry store or ClickHouse. All checksums are compared before anything is written. Restore only backups that you trust.`,
  arguments: [{ name: "folder", description: "The folder of the backup.", required: true }],
  options: {
    ...configurationOption,
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
  ],
  async run({ values, positionals, json, io }) {
    const folder = resolve(positionals[0]!);
    if (values.check === true) {
      if (values.organization !== undefined) throw new UsageError("--organization and --check cannot be combined");
      return await check(folder, { json, io });
    }
    const { restoreBackup } = await import("@sounding/server");
    const { config } = await loadConfiguration(values.config, io);
    const progress = createRowProgress(io, json);
    const { manifest, organization, rows } = await restoreBackup({
      config,
      folder,
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
        `The configuration was not changed. The backup's is ${folder}/configuration/sounding.yaml.`,
      );
    }
    return exitCodes.ok;
  },
});

async function check(
  folder: string,
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
    folder,
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
      `${folder} is a complete backup of ${what}, made ${createdAt}, with ${files} files of telemetry.`,
    );
  }
  return exitCodes.ok;
}
