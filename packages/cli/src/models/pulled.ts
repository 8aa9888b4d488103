/** Shows what was pulled or added, its license, and how to use it. */
import type { PlannedModel, PulledFile, PullResult } from "@sounding/server";
import type { CommandIo } from "../command.ts";
import { writeJson, writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import type { Place } from "./place.ts";
import { readStored } from "./stored.ts";

interface Shown {
  readonly place: Place;
  readonly pulled: PullResult;
  readonly json: boolean;
  readonly verb: "downloaded" | "added";
}

export async function showPulled(io: CommandIo, { place, pulled, json, verb }: Shown): Promise<void> {
  const { files, folder } = pulled;
  const license = "license" in pulled ? (pulled.license ?? "unknown") : undefined;
  if (json) {
    await writeJson(
      io.stdout,
      files.map((file) => pulledToJson(file, license)),
    );
    return;
  }
  const there = files.every(({ alreadyThere }) => alreadyThere) ? `was already ${verb}` : `has been ${verb}`;
  if (folder !== undefined) {
    const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    await writeLine(io.stdout, `${folder.name} ${there}: ${showBytes(bytes)}`);
  } else {
    for (const { name, sizeBytes, sha256 } of files)
      await writeLine(io.stdout, `${name} ${there}: ${showBytes(sizeBytes)}, SHA-256 ${sha256}`);
  }
  if (license !== undefined) await writeLine(io.stdout, `License, as the package declares it: ${license}`);
  const names = new Set(files.map(({ name }) => name));
  const isPulled = (name: string): boolean =>
    names.has(name) || name === folder?.name || (folder !== undefined && name.startsWith(`${folder.name}/`));
  for (const model of await readStored(place))
    if (isPulled(model.stored.name)) await writeLine(io.stderr, `In ${model.stored.path}. ${usage(model)}`);
}

function pulledToJson(
  { name, path, sizeBytes, sha256, alreadyThere }: PulledFile,
  license: string | undefined,
): Record<string, unknown> {
  const facts = { name, path, size_bytes: sizeBytes, sha256: sha256 ?? null, already_there: alreadyThere };
  return license === undefined ? facts : { ...facts, license };
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
