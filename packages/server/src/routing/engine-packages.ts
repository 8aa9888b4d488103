/**
 * The npm packages of local engines. A published server does not depend on them, because they are large and not everybody
 * needs them: an engine whose package is missing explains how to add it. docs/adr/0001-packages-and-deployment.md
 */
import { readFileSync } from "node:fs";
import type { EngineSettings } from "../config/engine-settings.ts";
import { AppError } from "../errors.ts";

export interface EnginePackage {
  /** The type of the engines that need it. */
  readonly type: EngineSettings["type"];
  readonly name: string;
  /** The version that Sounding is tested with. */
  readonly version: string;
  /** What it adds, as the end of a sentence. */
  readonly use: string;
  readonly isInstalled: boolean;
  /** The command that adds it. */
  readonly command: string;
}

const known: readonly Pick<EnginePackage, "type" | "name" | "use">[] = [
  { type: "llama_cpp", name: "node-llama-cpp", use: "runs GGUF models for chat" },
  { type: "sherpa_onnx", name: "sherpa-onnx-node", use: "runs ONNX models for speech and transcription" },
];

export function listEnginePackages(): EnginePackage[] {
  const manifest = new URL("../../package.json", import.meta.url);
  const { peerDependencies: versions } = JSON.parse(readFileSync(manifest, "utf8")) as {
    peerDependencies: Readonly<Record<string, string>>;
  };
  return known.map(({ name, ...rest }) => {
    const version = versions[name]!;
    return { name, ...rest, version, command: `npm install ${name}@${version}`, isInstalled: canResolve(name) };
  });
}

/** The package of an engine type; undefined if it needs none. */
export function enginePackage(type: EngineSettings["type"]): EnginePackage | undefined {
  return listEnginePackages().find((listed) => listed.type === type);
}

/** @throws AppError overloaded, with the command that adds the package */
export function requireEnginePackage(engine: string, type: EngineSettings["type"]): void {
  const needed = enginePackage(type);
  if (needed === undefined || needed.isInstalled) return;
  throw new AppError(
    "overloaded",
    `The engine ${JSON.stringify(engine)} of type ${type} needs the npm package ${needed.name}, which is not installed. ` +
      `In the folder where Sounding is installed, run: ${needed.command}`,
  );
}

function canResolve(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
