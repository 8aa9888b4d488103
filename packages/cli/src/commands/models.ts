/** `sounding models`: the models of this machine, fetched from the Hugging Face hub or any URL. */
import type { ModelFile, ModelFolder, PulledFile } from "@sounding/server";
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

/** What to write into the configuration for an engine to use a folder. */
function folderAdvice({ name, kind }: ModelFolder): string {
  if (kind === undefined) {
    return "It is not known what kind of model it is; an engine of type sherpa_onnx takes it as the folder of a model.";
  }
  const model = name.split("/").at(-1)!;
  return `To use it, write into the configuration:

engines:
  sherpa:
    type: sherpa_onnx
    models:
      ${model}: { kind: ${kind}, folder: ${name} }`;
}

const pullCommand = command({
  name: "pull",
  summary: "Fetch a model",
  description: `The source is a file of a repository on the Hugging Face hub (owner/repository/file.gguf), a whole repository
(owner/repository, for models of several ONNX files; either with @revision if need be), or the URL of a .gguf or .onnx
file or of a .tar.bz2, .tar.gz or .tar archive, which is unpacked. A pull that broke off goes on where it ended. Files
and archives are checked against --sha256, or the hub's checksum.

The environment variables HF_TOKEN (for files behind a login or a licence) and HF_ENDPOINT (another hub) are read.`,
  arguments: [
    { name: "source", description: "owner/repository, owner/repository/file.gguf, or a URL.", required: true },
  ],
  options: {
    sha256: { type: "string", value: "HEX", description: "The checksum that the file or archive must have." },
    ...placeOptions,
  },
  examples: [
    ["sounding models pull Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf", "A file of the hub."],
    ["sounding models pull csukuangfj/vits-piper-en_US-amy-low", "A voice: a repository of the hub."],
    ["sounding models pull https://models.example.org/small.gguf --sha256 9f86…", "From a URL, checked."],
  ],
  async run({ values, positionals, json, io }) {
    const { describeFolder, pullModel } = await import("@sounding/server");
    const progress = createProgress(io, json);
    const dataDirectory = await dataDirectoryOf(values, io);
    const { files, folder } = await pullModel({
      dataDirectory,
      source: positionals[0]!,
      sha256: values.sha256,
      hubEndpoint: io.env["HF_ENDPOINT"],
      hubToken: io.env["HF_TOKEN"],
      signal: io.signal,
      onProgress: progress.show,
    }).finally(progress.end);
    if (json) {
      await writeJson(io.stdout, files.map(toJson));
      return exitCodes.ok;
    }
    if (folder !== undefined) {
      const described = await describeFolder(dataDirectory, folder.path);
      const there = files.every(({ alreadyThere }) => alreadyThere) ? "was there already" : "is there";
      await writeLine(io.stdout, `${folder.name} ${there}: ${showBytes(described.sizeBytes)}`);
      await writeLine(io.stderr, `In ${folder.path}. ${folderAdvice(described)}`);
      return exitCodes.ok;
    }
    for (const { name, path, sizeBytes, sha256, alreadyThere } of files) {
      await writeLine(
        io.stdout,
        `${name} ${alreadyThere ? "was there already" : "is there"}: ${showBytes(sizeBytes)}, SHA-256 ${sha256}`,
      );
      const engine = name.endsWith(".onnx") ? "sherpa_onnx" : "llama_cpp";
      await writeLine(
        io.stderr,
        `In ${path}. To use it, name it as the file of a model of an engine of type ${engine}.`,
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

function folderRowOf({ name, sizeBytes, kind }: ModelFolder): string[] {
  return [name, showBytes(sizeBytes), kind ?? "-", "-", kind === undefined ? "not a known kind of model" : ""];
}

const listCommand = command({
  name: "list",
  summary: "List the models of this machine",
  options: placeOptions,
  async run({ values, json, io }) {
    const { listModelFiles, listModelFolders } = await import("@sounding/server");
    const dataDirectory = await dataDirectoryOf(values, io);
    const files = await listModelFiles(dataDirectory);
    const folders = await listModelFolders(dataDirectory);
    if (json) {
      const described = files.map(({ name, path, sizeBytes, description, problem }) => ({
        name,
        path,
        size_bytes: sizeBytes,
        architecture: description?.architecture ?? null,
        context_length: description?.contextLength ?? null,
        problem: problem ?? null,
      }));
      const describedFolders = folders.map(({ name, path, sizeBytes, kind }) => ({
        name,
        path,
        size_bytes: sizeBytes,
        architecture: kind ?? null,
        context_length: null,
        problem: kind === undefined ? "not a known kind of model" : null,
      }));
      await writeJson(io.stdout, [...described, ...describedFolders]);
    } else {
      const rows = [...files.map(rowOf), ...folders.map(folderRowOf)];
      await writeTable(io.stdout, ["name", "size", "architecture", "context", "note"], rows);
    }
    return exitCodes.ok;
  },
});

const removeCommand = command({
  name: "remove",
  summary: "Remove a model, and what is left of its unfinished pulls",
  arguments: [{ name: "name", description: "Its name, as `sounding models list` shows it.", required: true }],
  options: placeOptions,
  async run({ values, positionals, json, io }) {
    const { removeModel } = await import("@sounding/server");
    const removed = await removeModel(await dataDirectoryOf(values, io), positionals[0]!);
    if (json) await writeJson(io.stdout, removed);
    else for (const name of removed) await writeLine(io.stdout, `${name} is removed.`);
    return exitCodes.ok;
  },
});

export const modelsCommand = command({
  name: "models",
  summary: "Fetch, list and remove the models of this machine",
  subcommands: [pullCommand, listCommand, removeCommand],
});
