/** Where the embedded store keeps its files, and how its process is started. */
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../logger.ts";
import { socketPathFor } from "./socket-path.ts";
import { superviseEngine, type EngineEvents, type SupervisedEngine } from "./supervised-engine.ts";

export interface EmbeddedPaths {
  readonly directory: string;
  readonly socketPath: string;
  readonly spoolDirectory: string;
}

/** Creates the folder if necessary. @throws AppError internal; Error of the file system */
export async function embeddedPaths(dataDirectory: string): Promise<EmbeddedPaths> {
  const directory = join(dataDirectory, "telemetry");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  return { directory, socketPath: await socketPathFor(directory), spoolDirectory: join(directory, "spool") };
}

export interface EmbeddedEngineOptions extends EngineEvents {
  readonly paths: EmbeddedPaths;
  readonly memoryBytes: number;
  readonly logger: Logger;
}

/** Starts the process, and keeps it running. */
export function startEmbeddedEngine({ paths, memoryBytes, ...rest }: EmbeddedEngineOptions): SupervisedEngine {
  const { directory, socketPath, spoolDirectory } = paths;
  return superviseEngine({
    settings: { dataDirectory: join(directory, "clickhouse"), spoolDirectory, socketPath, memoryBytes },
    ...rest,
  });
}
