/** `sounding models`: lists what a server offers and what is on the disk, and pulls and removes model files. */
import type { PlannedModel, PulledFile } from "@sounding/server";
import { command } from "../command.ts";
import { connectionOptions } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { findPlace, placeOptions } from "../models/place.ts";
import { readServed, servedToJson, showServed } from "../models/served.ts";
import { readStored, showStored, storedToJson } from "../models/stored.ts";
import { writeJson, writeLine } from "../output.ts";
import { createProgress, showBytes } from "../progress.ts";
import { proxiesOf } from "../proxies.ts";
import { writeTable } from "../terminal/table.ts";

const listCommand = command({
  name: "list",
  summary: "List the models that a server offers, and those on the disk",
  description: `The first table has the models of the server: what they do, the engine that runs them, and their state. \`not loaded\` means
that the next call loads the model into memory.

The second table has the files and folders in the folder models of the data directory, with the name under which they are
served, or the reason why they are not.

With --json: one object with served (null if no server answers) and on_disk.`,
  options: { ...placeOptions, ...connectionOptions },
  async run({ values, json, io }) {
    const place = await findPlace(values, io);
    const served = await readServed(values, io);
    const stored = await readStored(place);
    if (json) {
      const value = { served: served?.models.map(servedToJson) ?? null, on_disk: stored.map(storedToJson) };
      await writeJson(io.stdout, value);
      return exitCodes.ok;
    }
    if (served !== undefined) {
      await showServed(io, served);
      await writeLine(io.stdout, "");
    }
    await showStored(io, place, stored);
    return exitCodes.ok;
  },
});

function pulledToJson({ name, path, sizeBytes, sha256, alreadyThere }: PulledFile): Record<string, unknown> {
  return { name, path, size_bytes: sizeBytes, sha256, already_there: alreadyThere };
}

/** How to use a model that has been pulled. */
function usage({ stored, id, reason }: PlannedModel): string {
  if (id === undefined) return `It is not served: ${reason ?? "unknown"}.`;
  return `A running server offers it as ${id}. Try: ${exampleCall(stored, id)}`;
}

function exampleCall({ format, kind, purpose }: PlannedModel["stored"], id: string): string {
  if (purpose === "embeddings") return `sounding embed --model ${id} 'Hello!'`;
  if (format === "gguf") return `sounding chat --model ${id} 'Hello!'`;
  const speaks = ["vits", "matcha", "kokoro", "kitten"].includes(kind ?? "");
  return speaks ? `sounding speak --model ${id} 'Hello!'` : `sounding transcribe --model ${id} recording.wav`;
}

const pullCommand = command({
  name: "pull",
  summary: "Download a model",
  description: `The source is one of:
- a short name from \`sounding models available\`;
- a file on the Hugging Face hub (owner/repository/file.gguf);
- a repository (owner/repository), for models that consist of several ONNX files;
- the URL of a .gguf or .onnx file, or of a .tar.bz2, .tar.gz or .tar archive, which is unpacked.

Add @revision to a file or repository to select a revision. An interrupted download is resumed. Files and archives are verified
against --sha256, or the hub's checksum. A running server with the same data directory offers the model without a restart.
The environment variables HF_TOKEN (for files that require a login or an accepted license), HF_ENDPOINT (another hub), HTTPS_PROXY,
HTTP_PROXY and NO_PROXY are used.`,
  arguments: [
    {
      name: "source",
      description: "A short name, owner/repository, owner/repository/file.gguf, or a URL.",
      required: true,
    },
  ],
  options: {
    sha256: { type: "string", value: "HEX", description: "Expected checksum of the file or archive." },
    ...placeOptions,
  },
  examples: [
    ["sounding models pull qwen2.5-0.5b", "A small chat model by its short name."],
    ["sounding models pull Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf", "A file on the hub."],
    ["sounding models pull csukuangfj/vits-piper-en_US-amy-low", "A voice: a repository on the hub."],
    ["sounding models pull https://models.example.org/small.gguf --sha256 9f86…", "From a URL, verified."],
  ],
  async run({ values, positionals, json, io }) {
    const { pullModel } = await import("@sounding/server");
    const progress = createProgress(io, json);
    const place = await findPlace(values, io);
    const { files, folder } = await pullModel({
      dataDirectory: place.dataDirectory,
      source: positionals[0]!,
      sha256: values.sha256,
      hubEndpoint: io.env["HF_ENDPOINT"],
      hubToken: io.env["HF_TOKEN"],
      proxies: proxiesOf(io),
      signal: io.signal,
      onProgress: progress.show,
      onRetry(name, { problem, pauseMs, attempt, mostAttempts }) {
        progress.end();
        const seconds = Math.ceil(pauseMs / 1000);
        io.stderr.write(`${name}: ${problem}. Retrying in ${seconds} s (attempt ${attempt} of ${mostAttempts}).\n`);
      },
    }).finally(progress.end);
    if (json) {
      await writeJson(io.stdout, files.map(pulledToJson));
      return exitCodes.ok;
    }
    const names = new Set([folder?.name, ...files.map(({ name }) => name)]);
    const stored = (await readStored(place)).filter((model) => names.has(model.stored.name));
    const there = files.every(({ alreadyThere }) => alreadyThere) ? "was already downloaded" : "has been downloaded";
    if (folder !== undefined) {
      const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      await writeLine(io.stdout, `${folder.name} ${there}: ${showBytes(bytes)}`);
    } else {
      for (const { name, sizeBytes, sha256 } of files)
        await writeLine(io.stdout, `${name} ${there}: ${showBytes(sizeBytes)}, SHA-256 ${sha256}`);
    }
    for (const model of stored) await writeLine(io.stderr, `In ${model.stored.path}. ${usage(model)}`);
    return exitCodes.ok;
  },
});

const availableCommand = command({
  name: "available",
  summary: "List models that can be pulled by a short name",
  description: "Prints for each model its size, license and languages, and whether it has been pulled.",
  options: {
    capability: {
      type: "string",
      value: "NAME",
      choices: ["chat", "speech", "transcription"],
      description: "Only models with this capability.",
    },
    ...placeOptions,
  },
  async run({ values, json, io }) {
    const { catalogModels, parseModelSource } = await import("@sounding/server");
    const stored = await readStored(await findPlace(values, io));
    const there = new Set(
      stored.filter(({ stored: { problem } }) => problem === undefined).map((each) => each.stored.name),
    );
    const models = catalogModels()
      .filter(({ capability }) => values.capability === undefined || capability === values.capability)
      .map((model) => ({ ...model, pulled: there.has(parseModelSource(model.source).name) }));
    if (json) {
      await writeJson(io.stdout, models);
      return exitCodes.ok;
    }
    const rows = models.map(({ name, capability, size_bytes, license, languages, description, pulled }) => [
      name,
      capability,
      showBytes(size_bytes),
      license,
      languages.join(", "),
      pulled ? "yes" : "",
      description,
    ]);
    const columns = [
      "name",
      "capability",
      { title: "size", align: "right" },
      { title: "license", optional: 2 },
      { title: "languages", optional: 1 },
      "pulled",
      "description",
    ] as const;
    await writeTable(io, columns, rows);
    return exitCodes.ok;
  },
});

const removeCommand = command({
  name: "remove",
  summary: "Remove a model and its incomplete downloads",
  description: "A running server stops offering the model; calls that are in progress end properly.",
  arguments: [
    {
      name: "name",
      description: "The model's ID, or its name on the disk, as `sounding models` lists them.",
      required: true,
    },
  ],
  options: placeOptions,
  async run({ values, positionals, json, io }) {
    const { removeModel } = await import("@sounding/server");
    const place = await findPlace(values, io);
    const wanted = positionals[0]!;
    const stored = await readStored(place);
    const named = stored.some((model) => model.stored.name === wanted)
      ? wanted
      : stored.find(({ id, configured }) => id === wanted && !configured)?.stored.name;
    const removed = await removeModel(place.dataDirectory, named ?? wanted);
    if (json) await writeJson(io.stdout, removed);
    else for (const name of removed) await writeLine(io.stdout, `Removed ${name}.`);
    return exitCodes.ok;
  },
});

export const modelsCommand = command({
  ...listCommand,
  name: "models",
  summary: "List, download and remove models",
  subcommands: [listCommand, availableCommand, pullCommand, removeCommand],
});
