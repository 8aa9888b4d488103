/** `sounding backup`: copies an installation, or one organization, to a folder. */
import { resolve } from "node:path";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { configurationOption, createRowProgress, loadConfiguration } from "../maintenance.ts";
import { writeJson, writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import { formatCount } from "../terminal/numbers.ts";
import { cliVersion } from "../version.ts";

export const backupCommand = command({
  name: "backup",
  summary: "Back up an installation or one organization to a folder",
  description: `Run it on the machine of the server, as the server's user, with the server's configuration. The server may run: queries have
priority, and everything that was acknowledged before the backup began is in it.

The folder gets the control database (organizations, projects, keys as hashes, token usage, alert rules), the telemetry and the
configuration file. It does not get sessions of the console, sums by minute (they are made again) and model files. Only you can read it.
Ctrl-C cancels; a backup that did not finish cannot be restored.`,
  arguments: [{ name: "folder", description: "A folder that is empty or does not exist.", required: true }],
  options: {
    ...configurationOption,
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
  ],
  async run({ values, positionals, json, io }) {
    const { createBackup } = await import("@sounding/server");
    const { config, file } = await loadConfiguration(values.config, io);
    const folder = resolve(positionals[0]!);
    const progress = createRowProgress(io, json);
    const { control, id, organization, telemetry } = await createBackup({
      config,
      configFile: file,
      folder,
      organization: values.organization,
      version: cliVersion(),
      signal: io.signal,
      onProgress: progress.show,
    }).finally(progress.end);
    const files = telemetry?.files ?? [];
    const rows = files.flatMap(({ organizations }) => organizations).reduce((sum, each) => sum + each.rows, 0);
    const bytes = files.reduce((sum, each) => sum + each.bytes, control.bytes);
    if (json) {
      await writeJson(io.stdout, { folder, id, organization, telemetry_rows: rows, control_rows: control.rows, bytes });
    } else {
      const what = organization === null ? "the installation" : `the organization ${JSON.stringify(organization.name)}`;
      await writeLine(
        io.stdout,
        `Backed up ${what} to ${folder}: ${formatCount(rows)} rows of telemetry and ${formatCount(control.rows)} of the control database, ${showBytes(bytes)}.`,
      );
    }
    return exitCodes.ok;
  },
});
