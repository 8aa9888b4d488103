/**
 * Records what the instrumented applications send, for instrumentations.test.ts. Run it after changing an application or a
 * version: `node test/instrumentations/record.ts [application …]`
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { applications } from "./applications.ts";
import { startGateway } from "./gateway.ts";
import { writeRecording } from "./recording.ts";
import { isPython, runApplication } from "./run-application.ts";
import { instrumentedPython } from "../support/needs.ts";

const wanted = new Set(process.argv.slice(2));
await using gateway = await startGateway();
for (const application of applications) {
  if (wanted.size > 0 && !wanted.has(application.name)) continue;
  await runApplication(application, gateway, instrumentedPython);
  const packages = isPython(application) ? await pythonPackages(instrumentedPython) : await npmPackages();
  const { calls } = gateway;
  const exports = gateway.exports.map(withoutPaths);
  await writeRecording(application.name, { packages, calls, exports });
  process.stdout.write(`${application.name}: ${calls.length} calls, ${exports.length} exports\n`);
}

/** Stack traces name files of this machine. */
function withoutPaths(exported: unknown): unknown {
  const text = JSON.stringify(exported);
  const environment = dirname(dirname(instrumentedPython));
  return JSON.parse(text.replaceAll(environment, "/python").replaceAll(process.cwd(), "/sounding"));
}

async function pythonPackages(interpreter: string): Promise<Record<string, string>> {
  const requirements = await readFile(new URL("../support/python/instrumentations.txt", import.meta.url), "utf8");
  const named = new Set([...requirements.matchAll(/^(?<name>[\w-]+)/gm)].map(({ groups }) => groups!["name"]!));
  const { stdout } = await promisify(execFile)(interpreter, ["-m", "pip", "list", "--format=json"]);
  const installed = JSON.parse(stdout) as { name: string; version: string }[];
  const chosen = installed.filter(({ name }) => named.has(name));
  return Object.fromEntries(chosen.map(({ name, version }) => [name, version]));
}

async function npmPackages(): Promise<Record<string, string>> {
  const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const names = ["ai", "@ai-sdk/otel", "@ai-sdk/openai-compatible"];
  return Object.fromEntries(names.map((name) => [name, manifest.devDependencies[name]!]));
}
