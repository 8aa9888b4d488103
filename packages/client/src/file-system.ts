/**
 * Reads and writes files in runtimes that have them, with the parts of `node:fs` that the client needs; they are loaded
 * on first use.
 */
import { builtinModule } from "./environment.ts";
import { ConfigurationError } from "./errors.ts";

/** https://nodejs.org/api/fs.html */
interface FileSystem {
  openSync(path: string | URL, flags: "w"): number;
  writeFileSync(file: number, bytes: Uint8Array): void;
  closeSync(file: number): void;
  createReadStream(path: "", options: { readonly fd: number; readonly autoClose: false }): FileStream;
  readonly promises: {
    open(path: string | URL, flags: "w" | "r"): Promise<OpenFile>;
  };
}

interface OpenFile {
  /** Appends to what was written before. */
  writeFile(bytes: Uint8Array): Promise<void>;
  /** Reads from the start, and closes the file at the end or when the stream is destroyed. */
  createReadStream(): FileStream;
  close(): Promise<void>;
}

/** Chunks of a file. */
export interface FileStream extends AsyncIterable<unknown> {
  destroy(): void;
}

/** Throws ConfigurationError if the runtime has no files. */
export function fileSystem(): FileSystem {
  const files = builtinModule("node:fs");
  if (files === undefined) {
    throw new ConfigurationError(
      "Reading files requires Node (22.3 or later), Deno or Bun; on other platforms pass the bytes.",
    );
  }
  return files as FileSystem;
}
