/** `sounding export`: saves an organization's telemetry as files of OTLP, and continues an interrupted export. */
import { findConnection, serverOptions } from "../connection.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import {
  appendPage,
  pathOfFile,
  readExportState,
  signals,
  writeExportState,
  type ExportedFile,
  type ExportState,
} from "../telemetry/export-folder.ts";
import { postRepeatedly, type TransferServer } from "../telemetry/repeated-request.ts";
import { rangeOptions, readTimeRange } from "../telemetry/time-range.ts";
import { readSeenProjects } from "../telemetry/seen-projects.ts";

const recordsPerPage = 2000;

export const exportCommand = command({
  name: "export",
  summary: "Save telemetry as files",
  description: `Writes the telemetry of the key's organization to FOLDER/PROJECT/traces.jsonl, logs.jsonl and metrics.jsonl. Each line is an
export request in OTLP/JSON, as the OpenTelemetry Collector's file exporter writes it. An interrupted export continues when you run the
command again with the same folder. \`sounding import\` sends the files to a server. The key needs the permission telemetry_read.`,
  arguments: [{ name: "folder", description: "The folder to write; it is created.", required: true }],
  options: {
    signal: {
      type: "string",
      value: "SIGNAL",
      multiple: true,
      choices: signals,
      description: "Only this signal: traces, logs or metrics. Default: all.",
    },
    project: {
      type: "string",
      value: "NAME",
      multiple: true,
      description: "Only this project. Default: every project that telemetry names.",
    },
    ...rangeOptions,
    ...serverOptions,
  },
  examples: [
    ["sounding export telemetry --since 30d", "Save the telemetry of the last 30 days."],
    ["sounding export telemetry --project checkout --signal logs", "Save the logs of a project."],
  ],
  async run({ values, positionals, json, io }) {
    const [folder = ""] = positionals;
    const server = await openTransfer(values, io);
    const before = await readExportState(folder);
    const planned = before ?? (await plan(values, server, io));
    if (before !== undefined && before.url !== server.url)
      throw new UsageError(`the folder has an export of ${before.url}; name another folder for ${server.url}`);
    const report = async (text: string): Promise<void> => {
      if (!json) await writeLine(io.stderr, text);
    };
    if (before !== undefined) await report(`Continuing the export from ${planned.start} to ${planned.end}.`);
    const files = [...planned.files];
    const state: ExportState = { ...planned, files };
    await writeExportState(folder, state);
    for (let index = 0; index < state.files.length; index += 1) {
      while (!files[index]!.isComplete) {
        files[index] = await exportPage(folder, files[index]!, state, server);
        await writeExportState(folder, state);
      }
      const { bytes, project, signal } = files[index]!;
      await report(`${project}  ${signal}  ${showBytes(bytes)}`);
    }
    if (json) await writeJson(io.stdout, { folder, ...state });
    else
      await writeLine(
        io.stdout,
        `Exported ${showBytes(files.reduce((sum, { bytes }) => sum + bytes, 0))} to ${folder}.`,
      );
    return exitCodes.ok;
  },
});

type Values = Parameters<typeof findConnection>[0];

/** The server and the key of a transfer. @throws CliError */
export async function openTransfer(values: Values, io: CommandIo): Promise<TransferServer> {
  const { apiKey, url } = await findConnection(values, io);
  if (apiKey === undefined || url === undefined)
    throw new CliError(
      "no server or API key is known here; run `sounding login`, or set SOUNDING_BASE_URL and SOUNDING_API_KEY",
      exitCodes.denied,
    );
  return { url: url.value, key: apiKey.value, signal: io.signal };
}

interface Wanted {
  readonly signal?: readonly string[] | undefined;
  readonly project?: readonly string[] | undefined;
  readonly since: string;
  readonly until?: string | undefined;
}

/** What is exported: the range is fixed now, so that a continued export has the same. */
async function plan(wanted: Wanted & Values, { url }: TransferServer, io: CommandIo): Promise<ExportState> {
  const nowMs = Date.now();
  const until = wanted.until ?? new Date(nowMs).toISOString();
  const { end = until, start = "" } = readTimeRange({ since: wanted.since, until, utc: false }, nowMs);
  const chosen = signals.filter((each) => wanted.signal === undefined || wanted.signal.includes(each));
  const files = (await listProjects(wanted, io)).flatMap((project) =>
    chosen.map((signal): ExportedFile => ({ project, signal, bytes: 0, cursor: null, isComplete: false })),
  );
  return { format: 1, url, start, end, files };
}

async function listProjects(wanted: Wanted & Values, io: CommandIo): Promise<readonly string[]> {
  if (wanted.project !== undefined) return wanted.project;
  const { project: _named, ...values } = wanted;
  const found = await readSeenProjects(values, io);
  if (found.seen === undefined) throw new CliError(found.reason, exitCodes.failed);
  return found.seen.data.map(({ name }) => name);
}

async function exportPage(
  folder: string,
  file: ExportedFile,
  { end, start }: ExportState,
  server: TransferServer,
): Promise<ExportedFile> {
  const { cursor, project, signal } = file;
  const range = cursor === null ? { start, end } : { cursor };
  const response = await requestPage(server, { signal, project_name: project, ...range }, recordsPerPage);
  const page = new Uint8Array(await response.arrayBuffer());
  const bytes = await appendPage(pathOfFile(folder, file), file.bytes, page);
  const next = response.headers.get("x-next-cursor");
  return { ...file, bytes, cursor: next, isComplete: next === null };
}

/** The server refuses a page of few large records like one of too many, so that it is asked for with fewer. */
async function requestPage(server: TransferServer, fields: object, limit: number): Promise<Response> {
  try {
    const body = JSON.stringify({ ...fields, limit });
    return await postRepeatedly(server, { path: "/observability/export", body });
  } catch (error) {
    const isRefused = error instanceof CliError && error.exitCode === exitCodes.failed;
    if (!isRefused || limit === 1) throw error;
    return await requestPage(server, fields, Math.ceil(limit / 8));
  }
}
