/** Environment variables and the name of the runtime, wherever there are such things. */
import { clientVersion } from "./version.ts";

interface ProcessLike {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly versions?: Readonly<Record<string, string | undefined>>;
  /** https://nodejs.org/api/process.html#processgetbuiltinmoduleid */
  readonly getBuiltinModule?: (name: string) => unknown;
  readonly emitWarning?: (message: string, options: { type: string; code: string }) => void;
}

function processOf(): ProcessLike | undefined {
  return (globalThis as { process?: ProcessLike }).process;
}

/** The variable's value; undefined where it is unset or empty, and where variables do not exist or may not be read. */
export function environmentVariable(name: string): string | undefined {
  try {
    return processOf()?.env?.[name] || undefined;
  } catch {
    // Deno without the permission to read the environment.
    return undefined;
  }
}

/** `sounding-client/1.32.0 node/24.21.0`; undefined in browsers, which send their own. */
export function userAgent(): string | undefined {
  const versions = processOf()?.versions;
  const runtime = ["bun", "deno", "node"].find((name) => versions?.[name] !== undefined);
  return runtime === undefined ? undefined : `sounding-client/${clientVersion} ${runtime}/${versions?.[runtime]}`;
}

/** A module of Node's, which Deno and Bun have too; undefined in browsers. Nothing of it is imported before. */
export function builtinModule(name: string): unknown {
  return processOf()?.getBuiltinModule?.(name);
}

let warnedOfLegacyVariable = false;

/** Warns once that the variable that chose another address before 1.28.0 has no effect any more. */
export function warnOfLegacyVariable(): void {
  if (warnedOfLegacyVariable || environmentVariable("USE_AIR_API_V2_BASE_URL") === undefined) return;
  warnedOfLegacyVariable = true;
  processOf()?.emitWarning?.(
    "USE_AIR_API_V2_BASE_URL has no effect since 1.28.0 and can be removed; use SOUNDING_BASE_URL to choose another server.",
    { type: "DeprecationWarning", code: "SOUNDING_LEGACY_BASE_URL" },
  );
}
