/** Reads environment variables and the name of the runtime, if they exist. */
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

/** The variable's value; undefined if it is unset or empty, or if variables do not exist or may not be read. */
export function environmentVariable(name: string): string | undefined {
  try {
    return processOf()?.env?.[name] || undefined;
  } catch {
    // Deno without the permission to read the environment.
    return undefined;
  }
}

/** `sounding-client/0.1.0 node/24.21.0`; undefined in browsers, which set their own header. */
export function userAgent(): string | undefined {
  const versions = processOf()?.versions;
  const runtime = ["bun", "deno", "node"].find((name) => versions?.[name] !== undefined);
  return runtime === undefined ? undefined : `sounding-client/${clientVersion} ${runtime}/${versions?.[runtime]}`;
}

/**
 * One of Node's built-in modules, which Deno and Bun have too; undefined in browsers. It is loaded only
 * when needed.
 */
export function builtinModule(name: string): unknown {
  return processOf()?.getBuiltinModule?.(name);
}

let warnedOfLegacyVariable = false;

/** Warns once if USE_AIR_API_V2_BASE_URL is set, a variable of older SDKs that has no effect. */
export function warnOfLegacyVariable(): void {
  if (warnedOfLegacyVariable || environmentVariable("USE_AIR_API_V2_BASE_URL") === undefined) return;
  warnedOfLegacyVariable = true;
  processOf()?.emitWarning?.(
    "USE_AIR_API_V2_BASE_URL has no effect. Remove it; to use another server, set SOUNDING_BASE_URL.",
    { type: "DeprecationWarning", code: "SOUNDING_LEGACY_BASE_URL" },
  );
}
