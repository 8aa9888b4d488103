/** `sounding import`: sends the files of an export to a server, and continues an interrupted import. */
import { createReadStream } from "node:fs";
import { rename, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { serverOptions } from "../connection.ts";
import { CliError } from "../cli-error.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { pathOfFile, readExportState, type ExportedFile } from "../telemetry/export-folder.ts";
import { postRepeatedly, type TransferServer } from "../telemetry/repeated-request.ts";
import { openTransfer } from "./export.ts";

interface Sent {
  /** Export requests that the server has accepted. */
  readonly requests: number;
  /** Records that it refused, such as ones before its retention. */
  readonly rejected: number;
}

/** By server, project and signal. */
type Progress = Record<string, Sent>;

export const importCommand = command({
  name: "import",
  summary: "Send exported telemetry to a server",
  description: `Sends the files that \`sounding export\` wrote to the organization of the key, each to the project of the same name. An
interrupted import continues when you run the command again. What the server already has counts once. Records before the retention of
their project are refused and counted. The key needs the permission telemetry_write.`,
  arguments: [{ name: "folder", description: "The folder of the export.", required: true }],
  options: {
    project: { type: "string", value: "NAME", description: "Send everything to this project." },
    ...serverOptions,
  },
  examples: [["sounding import telemetry --url https://sounding.example.com", "Send an export to another server."]],
  async run({ values, positionals, json, io }) {
    const [folder = ""] = positionals;
    const state = await readExportState(folder);
    if (state === undefined) throw new CliError(`${folder} has no export: there is no export.json`, exitCodes.failed);
    const open = state.files.filter(({ isComplete }) => !isComplete);
    if (open.length > 0)
      throw new CliError(
        `the export in ${folder} is not complete; run \`sounding export ${folder}\` again`,
        exitCodes.failed,
      );
    const server = await openTransfer(values, io);
    const path = join(folder, "import.json");
    const progress = await readProgress(path);
    let total: Sent = { requests: 0, rejected: 0 };
    for (const file of state.files) {
      const project = values.project ?? file.project;
      const name = JSON.stringify([server.url, project, file.project, file.signal]);
      let sent = progress[name] ?? { requests: 0, rejected: 0 };
      for await (const request of requestsOf(folder, file, sent.requests)) {
        const rejected = await send(server, file, { project, request });
        sent = { requests: sent.requests + 1, rejected: sent.rejected + rejected };
        progress[name] = sent;
        await writeProgress(path, progress);
      }
      if (!json)
        await writeLine(
          io.stderr,
          `${project}  ${file.signal}  ${sent.requests} requests, ${sent.rejected} records refused`,
        );
      total = { requests: total.requests + sent.requests, rejected: total.rejected + sent.rejected };
    }
    if (json) await writeJson(io.stdout, { url: server.url, ...total });
    else
      await writeLine(
        io.stdout,
        `Imported ${total.requests} requests into ${server.url}; ${total.rejected} records were refused.`,
      );
    return exitCodes.ok;
  },
});

/** The requests of a file after the first ones. */
async function* requestsOf(folder: string, file: ExportedFile, skipped: number): AsyncGenerator<string> {
  if (file.bytes === 0) return;
  const input = createReadStream(pathOfFile(folder, file), { end: file.bytes - 1 });
  let index = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    index += 1;
    if (index > skipped) yield line;
  }
}

/** @returns the number of records that the server refused */
async function send(
  server: TransferServer,
  { signal }: ExportedFile,
  { project, request }: { readonly project: string; readonly request: string },
): Promise<number> {
  const response = await postRepeatedly(server, { path: `/v1/${signal}`, body: request, project });
  const { partialSuccess = {} } = (await response.json()) as { partialSuccess?: Record<string, string> };
  const { rejectedDataPoints, rejectedLogRecords, rejectedSpans } = partialSuccess;
  return Number(rejectedSpans ?? rejectedLogRecords ?? rejectedDataPoints ?? 0);
}

async function readProgress(path: string): Promise<Progress> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Progress;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`, exitCodes.failed, { cause: error });
  }
}

async function writeProgress(path: string, progress: Progress): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(progress, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
