/** `sounding doctor`: checks everything that a server and the commands need, and explains how to fix problems. */
import { styleText } from "node:util";
import type { Config } from "@sounding/server";
import { command, type CommandIo } from "../command.ts";
import { defaultUrl, findConnection, isOnThisMachine, serverOptions } from "../connection.ts";
import { failed, ok, warning, type Finding } from "../doctor/finding.ts";
import { checkEnginePackages } from "../doctor/engine-packages.ts";
import { checkListening } from "../doctor/listening.ts";
import { checkModels } from "../doctor/models.ts";
import { checkPrograms } from "../doctor/programs.ts";
import { checkStorage } from "../doctor/storage.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";

export const doctorCommand = command({
  name: "doctor",
  summary: "Check the installation and explain how to fix problems",
  description: `Checks the configuration, the data folder, the disk, the control database, the telemetry store, the ports, the running
server with its key and models, the npm packages of local engines, and the programs on this machine. Changes nothing. Warnings concern features that you may
not need.

The exit code is 0 if no check failed, 8 if the configuration is invalid, otherwise 1. With --json, prints one object: ok, and
findings with area, status (ok, warning or failed), message and advice.`,
  options: {
    config: {
      type: "string",
      short: "c",
      value: "FILE",
      description: "The configuration file. Default: SOUNDING_CONFIG, or sounding.yaml in this folder.",
    },
    ...serverOptions,
  },
  examples: [
    ["sounding doctor", "Before the first start, or if something does not work."],
    ["sounding doctor --json | jq '.findings[] | select(.status != \"ok\")'", "For programs."],
  ],
  async run({ values, json, io }) {
    const findings: Finding[] = [];
    const say = async (...found: readonly Finding[]): Promise<void> => {
      for (const finding of found) {
        findings.push(finding);
        if (!json) await writeFinding(finding, io);
      }
    };
    await say(checkNode());
    const config = await checkConfiguration(values.config, io, say);
    if (config !== undefined) await say(...(await checkStorage(config)));
    const connection = await findConnection(values, io);
    const url = connection.url?.value ?? addressOf(config) ?? defaultUrl;
    const mustRun =
      values.url !== undefined || (connection.url !== undefined && !isOnThisMachine(connection.url.value));
    const { findings: listening, runs } = await checkListening(url, config, mustRun);
    await say(...listening);
    if (runs) await say(...(await checkModels({ url, key: connection.apiKey?.value, config, signal: io.signal })));
    await say(...(await checkEnginePackages(config)));
    await say(...(await checkPrograms(config, io)));
    io.signal.throwIfAborted();
    const isWell = findings.every(({ status }) => status !== "failed");
    if (json) await writeJson(io.stdout, { ok: isWell, findings });
    else await writeLine(io.stdout, `\n${summaryOf(findings)}`);
    if (config === undefined) return exitCodes.configuration;
    return isWell ? exitCodes.ok : exitCodes.failed;
  },
});

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const message = `Node ${process.versions.node}`;
  return major > 24 || (major === 24 && minor >= 12)
    ? ok("Node", message)
    : failed("Node", `${message}; 24.12 or later is required`, "https://nodejs.org/en/download");
}

async function checkConfiguration(
  path: string | undefined,
  io: CommandIo,
  say: (...found: readonly Finding[]) => Promise<void>,
): Promise<Config | undefined> {
  const { formatProblem, loadConfig } = await import("@sounding/server");
  const { config, problems, warnings, file, found } = await loadConfig({ path, env: io.env });
  for (const each of warnings) await say(warning("configuration", each));
  for (const problem of problems) {
    await say(failed("configuration", formatProblem(problem), "See docs/reference/configuration/ for all settings."));
  }
  if (config !== undefined) {
    await say(ok("configuration", found ? `${file} is valid` : `${file} does not exist; the defaults are used`));
  } else if (problems.length === 0) await say(warning("configuration", `${file} cannot be read`));
  return config;
}

function addressOf(config: Config | undefined): string | undefined {
  if (config === undefined) return undefined;
  const { host, port } = config.server;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

const marks = { ok: ["green", "ok"], warning: ["yellow", "warning"], failed: ["red", "failed"] } as const;

async function writeFinding({ area, status, message, advice }: Finding, io: CommandIo): Promise<void> {
  const [color, word] = marks[status];
  const mark = io.colors.stdout ? styleText(color, word.padEnd(7), { validateStream: false }) : word.padEnd(7);
  await writeLine(io.stdout, `${mark}  ${area}: ${message}`);
  if (advice !== undefined && status !== "ok") await writeLine(io.stdout, `${" ".repeat(9)}${advice}`);
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (status: Finding["status"]): number => findings.filter((each) => each.status === status).length;
  const [warnings, failures] = [count("warning"), count("failed")];
  if (failures > 0) return `${failures} of ${findings.length} checks failed.`;
  return warnings === 0
    ? "All checks passed."
    : `No check failed; ${warnings} ${warnings === 1 ? "warning" : "warnings"}.`;
}
