/** `sounding migrate`: migrates the databases to this version without starting the server. */
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { configurationOption, loadConfiguration } from "../maintenance.ts";
import { writeJson, writeLine } from "../output.ts";

export const migrateCommand = command({
  name: "migrate",
  summary: "Migrate the databases to this version without starting the server",
  description: `Migrates the control database and the telemetry store that the configuration names. Every start of a server does the same;
use this command to migrate before servers start, or to see what a start would do. Make a backup first.`,
  options: {
    ...configurationOption,
    check: { type: "boolean", description: "Change nothing; list what is pending. The exit code is 1 if anything is." },
  },
  examples: [
    ["sounding migrate", "Migrate."],
    ["sounding migrate --check", "List pending steps."],
  ],
  async run({ values, json, io }) {
    const { migrateInstallation } = await import("@sounding/server");
    const { config } = await loadConfiguration(values.config, io);
    const check = values.check === true;
    const steps = await migrateInstallation({ config, check, signal: io.signal });
    if (json) await writeJson(io.stdout, check ? { pending: steps } : { migrated: steps });
    else {
      for (const { step, store } of steps) await writeLine(io.stdout, `${store}: ${step}`);
      const count = `${steps.length} ${steps.length === 1 ? "step" : "steps"}`;
      const none = "The databases have the schema of this version.";
      await writeLine(io.stdout, steps.length === 0 ? none : `${count} ${check ? "pending" : "done"}.`);
    }
    return check && steps.length > 0 ? exitCodes.failed : exitCodes.ok;
  },
});
