/** Shows the models on the disk: their size, and under which name they are served or why they are not. */
import { resolve } from "node:path";
import type { PlannedModel } from "@sounding/server";
import type { CommandIo } from "../command.ts";
import { writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import { writeTable } from "../terminal/table.ts";
import type { Place } from "./place.ts";

/** What is on the disk, and what a server with this configuration does with it. */
export async function readStored({ dataDirectory, config }: Place): Promise<PlannedModel[]> {
  const { listStoredModels, planOf } = await import("@sounding/server");
  const { models } = await listStoredModels(dataDirectory);
  return planOf(config, dataDirectory, models);
}

export function storedToJson({ stored, id, engine, reason }: PlannedModel): Record<string, unknown> {
  return {
    name: stored.name,
    path: stored.path,
    size_bytes: stored.sizeBytes,
    architecture: stored.architecture ?? stored.kind ?? null,
    context_length: stored.contextLength ?? null,
    served_as: id ?? null,
    engine: engine ?? null,
    problem: reason ?? null,
  };
}

export async function showStored(
  io: CommandIo,
  { dataDirectory }: Place,
  plan: readonly PlannedModel[],
): Promise<void> {
  const folder = resolve(dataDirectory, "models");
  if (plan.length === 0) {
    await writeLine(io.stdout, `On disk: no models in ${folder}. \`sounding models available\` lists some to pull.`);
    return;
  }
  await writeLine(io.stdout, `On disk, in ${folder}:`);
  await writeTable(io, ["name", "size", "kind", "served as"], plan.map(rowOf));
}

function rowOf({ stored, id, engine, configured, reason }: PlannedModel): string[] {
  const use = id ?? (engine === undefined ? `not served: ${reason ?? "unknown"}` : "part of a model");
  const unusable = reason === undefined ? "" : `, unusable: ${reason}`;
  const served = configured ? `${use} (engine ${engine})${unusable}` : use;
  return [stored.name, showBytes(stored.sizeBytes), stored.architecture ?? stored.kind ?? "-", served];
}
