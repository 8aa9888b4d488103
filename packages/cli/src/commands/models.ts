/** `sounding models`: downloads models from the Hugging Face hub or any URL, and lists and removes them. */
import type { ModelFile, ModelFolder, PulledFile } from "@sounding/server";
import { CliError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { createProgress, showBytes } from "../progress.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";

const placeOptions = {
  config: {
    type: "string",
    short: "c",
    value: "FILE",
    description: "Configuration file that names the data directory. Default: SOUNDING_CONFIG, or sounding.yaml.",
  },
  "data-dir": { type: "string", value: "FOLDER", description: "The data directory, instead of the configuration's." },
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

/** The configuration that makes an engine use a model folder. */
function folderAdvice({ name, kind }: ModelFolder): string {
  if (kind === undefined) {
    return "The kind of the model is unknown; an engine of type sherpa_onnx may accept it as a model folder.";
  }
  const model = name.split("/").at(-1)!;
  return `To use it, add this to the configuration:

engines:
  sherpa:
    type: sherpa_onnx
    models:
      ${model}: { kind: ${kind}, folder: ${name} }`;
}

const pullCommand = command({
  name: "pull",
  summary: "Download a model",
  description: `The source is one of:
- a file on the Hugging Face hub (owner/repository/file.gguf);
- a repository (owner/repository), for models that consist of several ONNX files;
- the URL of a .gguf or .onnx file, or of a .tar.bz2, .tar.gz or .tar archive, which is unpacked.

Add @revision to a file or repository to select a revision. An interrupted download is resumed. Files and archives are verified
against --sha256, or the hub's checksum.
The environment variables HF_TOKEN (for files that require a login or an accepted license) and HF_ENDPOINT (another hub) are used.`,
  arguments: [
    { name: "source", description: "owner/repository, owner/repository/file.gguf, or a URL.", required: true },
  ],
  options: {
    sha256: { type: "string", value: "HEX", description: "Expected checksum of the file or archive." },
    ...placeOptions,
  },
  examples: [
    ["sounding models pull Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf", "A file on the hub."],
    ["sounding models pull csukuangfj/vits-piper-en_US-amy-low", "A voice: a repository on the hub."],
    ["sounding models pull https://models.example.org/small.gguf --sha256 9f86…", "From a URL, verified."],
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
      const there = files.every(({ alreadyThere }) => alreadyThere) ? "was already downloaded" : "has been downloaded";
      await writeLine(io.stdout, `${folder.name} ${there}: ${showBytes(described.sizeBytes)}`);
      await writeLine(io.stderr, `In ${folder.path}. ${folderAdvice(described)}`);
      return exitCodes.ok;
    }
    for (const { name, path, sizeBytes, sha256, alreadyThere } of files) {
      await writeLine(
        io.stdout,
        `${name} ${alreadyThere ? "was already downloaded" : "has been downloaded"}: ${showBytes(sizeBytes)}, SHA-256 ${sha256}`,
      );
      const engine = name.endsWith(".onnx") ? "sherpa_onnx" : "llama_cpp";
      await writeLine(
        io.stderr,
        `Stored in ${path}. To use it, set it as the file of a model of an engine of type ${engine}.`,
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
  return [name, showBytes(sizeBytes), kind ?? "-", "-", kind === undefined ? "unknown kind of model" : ""];
}

const listCommand = command({
  name: "list",
  summary: "List the downloaded models",
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
        problem: kind === undefined ? "unknown kind of model" : null,
      }));
      await writeJson(io.stdout, [...described, ...describedFolders]);
    } else {
      const rows = [...files.map(rowOf), ...folders.map(folderRowOf)];
      await writeTable(io, ["name", "size", "architecture", "context", "note"], rows);
    }
    return exitCodes.ok;
  },
});

const removeCommand = command({
  name: "remove",
  summary: "Remove a model and its incomplete downloads",
  arguments: [{ name: "name", description: "The model's name, as listed by `sounding models list`.", required: true }],
  options: placeOptions,
  async run({ values, positionals, json, io }) {
    const { removeModel } = await import("@sounding/server");
    const removed = await removeModel(await dataDirectoryOf(values, io), positionals[0]!);
    if (json) await writeJson(io.stdout, removed);
    else for (const name of removed) await writeLine(io.stdout, `Removed ${name}.`);
    return exitCodes.ok;
  },
});

export const modelsCommand = command({
  name: "models",
  summary: "Download, list and remove models",
  subcommands: [pullCommand, listCommand, removeCommand],
});
