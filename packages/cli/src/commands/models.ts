/** `sounding models`: the model files of this machine, fetched from the Hugging Face hub or any URL. */
import type { ModelFile, PulledFile } from "@sounding/server";
import { CliError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { createProgress, showBytes } from "../progress.ts";
import { writeJson, writeLine, writeTable } from "../output.ts";

const placeOptions = {
  config: {
    type: "string",
    short: "c",
    value: "FILE",
    description: "The configuration file that names the data directory; else SOUNDING_CONFIG, else sounding.yaml.",
  },
  "data-dir": { type: "string", value: "FOLDER", description: "The data directory, in place of the configuration's." },
} as const;

interface PlaceValues {
  readonly config?: string | undefined;
  readonly "data-dir"?: string | undefined;
}

async function dataDirectoryOf(values: PlaceValues, io: CommandIo): Promise<string> {
  if (values["data-dir"] !== undefined) return values["data-dir"];
  const { formatProblem, loadConfig } = await import("@sounding/server");
  const { config, problems } = await loadConfig({ path: values.config, env: io.env });
  if (config !== undefined) return config.storage.data_dir;
  throw new CliError(`the configuration is invalid: ${problems.map(formatProblem).join(" ")}`, exitCodes.configuration);
}

function toJson({ name, path, sizeBytes, sha256, alreadyThere }: PulledFile): Record<string, unknown> {
  return { name, path, size_bytes: sizeBytes, sha256, already_there: alreadyThere };
}

const pullCommand = command({
  name: "pull",
  summary: "Fetch a GGUF model file",
  description: `The source is a file of a repository on the Hugging Face hub (owner/repository/file.gguf, with @revision if need be)
or a URL. A pull that broke off goes on where it ended. The file is checked against --sha256, or the hub's checksum.

The environment variables HF_TOKEN (for files behind a login or a licence) and HF_ENDPOINT (another hub) are read.`,
  arguments: [{ name: "source", description: "owner/repository/file.gguf, or a URL.", required: true }],
  options: {
    sha256: { type: "string", value: "HEX", description: "The checksum that the file must have." },
    ...placeOptions,
  },
  examples: [
    ["sounding models pull Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf", "From the hub."],
    ["sounding models pull https://models.example.org/small.gguf --sha256 9f86…", "From a URL, checked."],
  ],
  async run({ values, positionals, json, io }) {
    const { pullModel } = await import("@sounding/server");
    const progress = createProgress(io, json);
    const pulled = await pullModel({
      dataDirectory: await dataDirectoryOf(values, io),
      source: positionals[0]!,
      sha256: values.sha256,
      hubEndpoint: io.env["HF_ENDPOINT"],
      hubToken: io.env["HF_TOKEN"],
      signal: io.signal,
      onProgress: progress.show,
    }).finally(progress.end);
    if (json) {
      await writeJson(io.stdout, pulled.map(toJson));
      return exitCodes.ok;
    }
    for (const { name, path, sizeBytes, sha256, alreadyThere } of pulled) {
      await writeLine(
        io.stdout,
        `${name} ${alreadyThere ? "was there already" : "is there"}: ${showBytes(sizeBytes)}, SHA-256 ${sha256}`,
      );
      await writeLine(
        io.stderr,
        `In ${path}. To use it, name it as the file of a model of an engine of type llama_cpp.`,
      );
    }
    return exitCodes.ok;
  },
});

function rowOf({ name, sizeBytes, description, problem }: ModelFile): string[] {
  return [
    name,
    showBytes(sizeBytes),
    description?.architecture ?? "-",
    description?.contextLength === undefined ? "-" : String(description.contextLength),
    problem ?? (description?.hasChatTemplate === true ? "" : "no chat template"),
  ];
}

const listCommand = command({
  name: "list",
  summary: "List the model files of this machine",
  options: placeOptions,
  async run({ values, json, io }) {
    const { listModelFiles } = await import("@sounding/server");
    const files = await listModelFiles(await dataDirectoryOf(values, io));
    if (json) {
      const described = files.map(({ name, path, sizeBytes, description, problem }) => ({
        name,
        path,
        size_bytes: sizeBytes,
        architecture: description?.architecture ?? null,
        context_length: description?.contextLength ?? null,
        problem: problem ?? null,
      }));
      await writeJson(io.stdout, described);
    } else {
      await writeTable(io.stdout, ["name", "size", "architecture", "context", "note"], files.map(rowOf));
    }
    return exitCodes.ok;
  },
});

const removeCommand = command({
  name: "remove",
  summary: "Remove a model file, and what is left of its unfinished pulls",
  arguments: [{ name: "name", description: "The file's name, as `sounding models list` shows it.", required: true }],
  options: placeOptions,
  async run({ values, positionals, json, io }) {
    const { removeModelFile } = await import("@sounding/server");
    const removed = await removeModelFile(await dataDirectoryOf(values, io), positionals[0]!);
    if (json) await writeJson(io.stdout, removed);
    else for (const name of removed) await writeLine(io.stdout, `${name} is removed.`);
    return exitCodes.ok;
  },
});

export const modelsCommand = command({
  name: "models",
  summary: "Fetch, list and remove the model files of this machine",
  subcommands: [pullCommand, listCommand, removeCommand],
});
