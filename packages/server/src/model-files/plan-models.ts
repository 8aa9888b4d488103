/** Decides which models on the disk are served without configuration, and under which IDs. */
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { modelFileEngines, type ImplicitEngine } from "../config/discovery.ts";
import type { EngineSettings } from "../config/engine-settings.ts";
import { usualSpeakerThreshold, type SherpaOnnxModelSettings } from "../config/engines/sherpa-onnx.ts";
import { shortNameOf } from "./model-catalog.ts";
import { modelKinds } from "./model-kinds.ts";
import { piperTokensName } from "./piper-voice.ts";
import { modelsDirectoryOf } from "./pull-options.ts";
import type { SpeakerModels } from "./speaker-models.ts";
import type { StoredModel } from "./stored-models.ts";

type SpeakerSettings = NonNullable<SherpaOnnxModelSettings["speakers"]>;

/** Frees the memory of models that are not in use, since all models of a folder may not fit. */
const idleUnloadMs = 600_000;

export interface PlannedModel {
  readonly stored: StoredModel;
  /** The model ID; undefined if it is not served. */
  readonly id: string | undefined;
  /** The engine that serves it; undefined if none does. */
  readonly engine: string | undefined;
  /** Whether it is served because the configuration or Sounding itself names it. */
  readonly configured: boolean;
  /** Why it is not served, or why its calls fail. */
  readonly reason: string | undefined;
}

export interface PlanInput {
  readonly dataDirectory: string;
  readonly stored: readonly StoredModel[];
  /** The engines of the configuration; their models are served as configured. */
  readonly engines: Readonly<Record<string, EngineSettings>>;
  /** Files that belong to an engine of our own, with the ID of its model, by name. */
  readonly own: Readonly<Record<string, { readonly engine: string; readonly id: string }>>;
  /** Why nothing is served without configuration; undefined if that is allowed. */
  readonly disabled: string | undefined;
}

/** A plan for each stored model, in the same order. */
export function planModels({ dataDirectory, stored, engines, own, disabled }: PlanInput): PlannedModel[] {
  const configured = configuredUses(engines, modelsDirectoryOf(dataDirectory));
  const useOf = ({ name, path, format }: StoredModel): Use | undefined =>
    configured.get(path) ??
    (format === "piper" ? configured.get(dirname(path)) : undefined) ??
    (Object.hasOwn(own, name) ? own[name] : undefined);
  const free = stored.filter((model) => model.problem === undefined && useOf(model) === undefined);
  const ids = idsOf(free.map(({ name }) => name));
  return stored.map((model): PlannedModel => {
    const use = useOf(model);
    if (use !== undefined) {
      const reason = isDamaged(model) ? model.problem : undefined;
      return { stored: model, ...use, configured: true, reason };
    }
    const reason = model.problem ?? disabled;
    if (reason !== undefined || model.format === "other")
      return { stored: model, id: undefined, engine: undefined, configured: false, reason };
    return {
      stored: model,
      id: ids.get(model.name),
      engine: modelFileEngines[model.format],
      configured: false,
      reason,
    };
  });
}

/** Whether it has a problem that no setting solves. */
function isDamaged({ format, architecture, problem }: StoredModel): boolean {
  return problem !== undefined && (format === "piper" || (format === "gguf" && architecture === undefined));
}

interface Use {
  readonly engine: string;
  readonly id: string | undefined;
}

/** The engines and models of the configuration by the paths that they name. */
function configuredUses(engines: Readonly<Record<string, EngineSettings>>, directory: string): Map<string, Use> {
  const uses = new Map<string, Use>();
  const use = (name: string, by: Use): void => {
    const places = isAbsolute(name) ? [name] : [join(directory, name), resolve(name)];
    for (const place of places) uses.set(resolve(place), by);
  };
  for (const [engine, settings] of Object.entries(engines)) {
    if (settings.type === "llama_cpp")
      for (const [id, { file }] of Object.entries(settings.models)) use(file, { engine, id });
    if (settings.type !== "sherpa_onnx") continue;
    for (const [id, { folder, speakers }] of Object.entries(settings.models)) {
      use(folder, { engine, id });
      if (speakers === undefined) continue;
      for (const file of [speakers.segmentation, speakers.embedding]) use(file, { engine, id: undefined });
    }
  }
  return uses;
}

/**
 * The ID of each name: its short name in the catalog, else its last segment, or the whole name where two models have the
 * same.
 */
function idsOf(names: readonly string[]): Map<string, string> {
  const whole = (name: string): string => name.replace(/(?:(?:-\d{5}-of-\d{5})?\.gguf|\.onnx)$/i, "");
  const short = (name: string): string => shortNameOf(name) ?? whole(name).split("/").at(-1)!;
  const counts = new Map<string, number>();
  for (const name of names) counts.set(short(name), (counts.get(short(name)) ?? 0) + 1);
  return new Map(names.map((name) => [name, counts.get(short(name)) === 1 ? short(name) : whole(name)]));
}

/** What identifies speakers: the first model of each role by name, if there is one of both. */
function speakersIn(plan: readonly PlannedModel[]): { settings: SpeakerSettings; revision: string } | undefined {
  const first = (role: keyof SpeakerModels): PlannedModel | undefined =>
    plan.find(({ stored }) => stored.speakers?.[role] !== undefined);
  const [segmentation, embedding] = [first("segmentation")?.stored, first("embedding")?.stored];
  if (segmentation === undefined || embedding === undefined) return undefined;
  const paths = { segmentation: segmentation.speakers!.segmentation!, embedding: embedding.speakers!.embedding! };
  const settings = { ...paths, threshold: usualSpeakerThreshold };
  return { settings, revision: `${revisionOf(segmentation)}:${revisionOf(embedding)}` };
}

function revisionOf({ sizeBytes, modifiedUnixMs }: StoredModel): string {
  return `${sizeBytes}:${modifiedUnixMs}`;
}

/** An engine for each model that is served without configuration, so that each comes and goes without the others. */
export function plannedEngines(plan: readonly PlannedModel[]): Record<string, ImplicitEngine> {
  const engines: Record<string, ImplicitEngine> = {};
  const speakers = speakersIn(plan);
  for (const { stored, id, engine, configured } of plan) {
    if (id === undefined || engine === undefined || configured) continue;
    const { kind } = stored;
    const transcribes = kind !== undefined && modelKinds[kind].task !== "speech";
    const own = transcribes ? speakers : undefined;
    const settings = settingsOf(stored, { id, speakers: own?.settings });
    if (settings === undefined) continue;
    const revision = [revisionOf(stored), ...(own === undefined ? [] : [own.revision])].join();
    engines[`${engine}/${id}`] = { settings, optional: true, only: { engine, model: id, revision } };
  }
  return engines;
}

function settingsOf(
  { path, kind, format }: StoredModel,
  { id, speakers }: { readonly id: string; readonly speakers: SpeakerSettings | undefined },
): EngineSettings | undefined {
  const common = { idle_unload_ms: idleUnloadMs };
  if (format === "gguf") return { type: "llama_cpp", models: { [id]: { file: path, ...common } } };
  if (kind === undefined) return undefined;
  const network = basename(path);
  const where =
    format === "piper"
      ? { folder: dirname(path), files: { model: network, tokens: piperTokensName(network) } }
      : { folder: path, files: {} };
  const identifies = speakers === undefined ? {} : { speakers };
  return { type: "sherpa_onnx", models: { [id]: { kind, ...where, ...common, ...identifies } } };
}
