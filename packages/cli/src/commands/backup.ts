/** `sounding backup`: copies an installation, or one organization, to a folder or S3-compatible storage. */
import { endpointOption, openLocation, s3Description } from "../backup-location.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { configurationOption, createRowProgress, loadConfiguration } from "../maintenance.ts";
import { writeJson, writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import { formatCount } from "../terminal/numbers.ts";
import { cliVersion } from "../version.ts";

export const backupCommand = command({
  name: "backup",
  summary: "Back up an installation or one organization to a folder or to S3",
  description: `Run it on the machine of the server, as the server's user, with the server's configuration. The server may run: queries have
priority, and everything that was acknowledged before the backup began is in it.

The backup has the control database (organizations, projects, keys as hashes, token usage, alert rules), the telemetry and the
configuration file. It does not have sessions of the console, sums by minute (they are made again) and model files. Only you can read
the folder. Ctrl-C cancels; a backup that did not finish cannot be restored.

${s3Description}`,
  arguments: [
    {
      name: "location",
      description: "A folder that is empty or does not exist, or s3://BUCKET/PREFIX without objects.",
      required: true,
    },
  ],
  options: {
    ...configurationOption,
    ...endpointOption,
    organization: {
      type: "string",
      short: "o",
      value: "NAME",
      description: "Name or ID of the only organization to back up. Default: the whole installation.",
    },
  },
  examples: [
    ["sounding backup backups/monday", "Back up everything."],
    ["sounding backup backups/acme --organization acme", "One organization."],
    ["sounding backup s3://backups/monday", "Back up everything to a bucket in S3."],
  ],
  async run({ values, positionals, json, io }) {
    const { createBackup } = await import("@sounding/server");
    const { config, file } = await loadConfiguration(values.config, io);
    await using storage = await openLocation(positionals[0]!, values["s3-endpoint"], io);
    const { folder, location } = storage;
    const progress = createRowProgress(io, json);
    const { control, id, organization, telemetry } = await createBackup({
      config,
      configFile: file,
      storage,
      organization: values.organization,
      version: cliVersion(),
      signal: io.signal,
      onProgress: progress.show,
      onLeft(sentence) {
        progress.end();
        io.stderr.write(`${sentence}\n`);
      },
    }).finally(progress.end);
    const files = telemetry?.files ?? [];
    const rows = files.flatMap(({ organizations }) => organizations).reduce((sum, each) => sum + each.rows, 0);
    const bytes = files.reduce((sum, each) => sum + each.bytes, control.bytes);
    if (json) {
      await writeJson(io.stdout, {
        location,
        folder: folder ?? null,
        id,
        organization,
        telemetry_rows: rows,
        control_rows: control.rows,
        bytes,
      });
    } else {
      const what = organization === null ? "the installation" : `the organization ${JSON.stringify(organization.name)}`;
      await writeLine(
        io.stdout,
        `Backed up ${what} to ${location}: ${formatCount(rows)} rows of telemetry and ${formatCount(control.rows)} of the control database, ${showBytes(bytes)}.`,
      );
    }
    return exitCodes.ok;
  },
});
