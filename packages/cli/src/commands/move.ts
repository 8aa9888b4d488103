/** `sounding move`: moves an installation to other databases while its server runs. */
import { UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { configurationOption, createRowProgress, loadConfiguration } from "../maintenance.ts";
import { writeJson, writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import { formatCount } from "../terminal/numbers.ts";

export const moveCommand = command({
  name: "move",
  summary: "Move an installation to other databases while its server runs",
  description: `Copies telemetry from the embedded store to ClickHouse, and the control database from SQLite to PostgreSQL, or back: whatever
differs between the two configurations. The new databases must be empty.

Run it on the machine of the server, as the server's user. It copies the telemetry while the server runs, and asks you to stop the server
when little is left. Then it copies the rest, compares rows and checksums, and keeps servers from starting on the old databases, of which
it removes nothing. Then start the server with the new configuration. If the command is interrupted, run it again: it continues.

Environment variables apply to both configurations, so the settings that differ must be in the files.`,
  options: {
    ...configurationOption,
    to: { type: "string", value: "FILE", description: "Configuration file that names the new databases. Required." },
    wait: {
      type: "string",
      value: "SECONDS",
      description: "How long to wait until the server is stopped; 0 only copies. Default: without a limit.",
    },
    check: {
      type: "boolean",
      description: "Change nothing; show what would be copied, and whether the new databases are fit.",
    },
  },
  examples: [
    ["sounding move --to new.yaml --check", "Show what would be copied."],
    ["sounding move --to new.yaml", "Move."],
    ["sounding move --to new.yaml --wait 0", "Copy what is there, and let the server run."],
  ],
  async run({ values, json, io }) {
    if (values.to === undefined)
      throw new UsageError("--to is required: name the configuration with the new databases");
    const waitMs = values.wait === undefined ? undefined : parseSeconds(values.wait) * 1000;
    const { config: from } = await loadConfiguration(values.config, io);
    const { config: to } = await loadConfiguration(values.to, io);
    if (values.check === true) return await check({ from, to, signal: io.signal }, { json, io });
    const { moveInstallation } = await import("@sounding/server");
    const progress = createRowProgress(io, json);
    const onReady = (rowsLeft: number): void => {
      progress.end();
      const text = `Stop the server now; ${formatCount(rowsLeft)} rows are left.`;
      io.stderr.write(`${json ? JSON.stringify({ event: "stop_server", rows_left: rowsLeft }) : text}\n`);
    };
    const moved = await moveInstallation({
      from,
      to,
      waitMs,
      signal: io.signal,
      onProgress: progress.show,
      onReady,
    }).finally(progress.end);
    const { controlRows, stoppedSeconds, telemetryRows } = moved;
    if (json) {
      await writeJson(io.stdout, {
        telemetry_rows: telemetryRows ?? null,
        control_rows: controlRows ?? null,
        stopped_seconds: stoppedSeconds === undefined ? null : Number(stoppedSeconds.toFixed(1)),
      });
      return exitCodes.ok;
    }
    const parts = [
      ...(telemetryRows === undefined ? [] : [`${formatCount(telemetryRows)} rows of telemetry`]),
      ...(controlRows === undefined ? [] : [`${formatCount(controlRows)} rows of the control database`]),
    ].join(" and ");
    const time = stoppedSeconds === undefined ? "" : ` in ${stoppedSeconds.toFixed(1)} s without a server`;
    const verb = stoppedSeconds === undefined ? "These were moved before" : "Moved and compared";
    await writeLine(io.stdout, `${verb}: ${parts}${time}. Start the server with ${values.to}.`);
    return exitCodes.ok;
  },
});

function parseSeconds(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new UsageError(`--wait is ${JSON.stringify(text)}; it must be a number of seconds from 0 to 9999999`);
}

async function check(
  options: Parameters<typeof import("@sounding/server").checkMove>[0],
  { io, json }: { readonly io: CommandIo; readonly json: boolean },
): Promise<number> {
  const { checkMove } = await import("@sounding/server");
  const { control, isResumed, telemetry } = await checkMove(options);
  if (json) {
    await writeJson(io.stdout, { telemetry: telemetry ?? null, control: control ?? null, resumed: isResumed });
    return exitCodes.ok;
  }
  if (telemetry !== undefined) {
    const size = `${formatCount(telemetry.rows)} rows, ${showBytes(telemetry.bytes)}`;
    await writeLine(io.stdout, `telemetry: ${telemetry.from} to ${telemetry.to}: ${size}`);
  }
  if (control !== undefined)
    await writeLine(io.stdout, `control database: ${control.from} to ${control.to}: ${formatCount(control.rows)} rows`);
  const what = isResumed ? "An interrupted move will continue." : "The new databases are empty.";
  await writeLine(io.stdout, `${what} Nothing was changed.`);
  return exitCodes.ok;
}
