/** Files, where the runtime has some: what the client uses of `node:fs`, which it asks for when it is needed and never imports. */
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
  /** Writes at the end of what was written before. */
  writeFile(bytes: Uint8Array): Promise<void>;
  /** Reads from the beginning, and closes the file at the end or when it is destroyed. */
  createReadStream(): FileStream;
  close(): Promise<void>;
}

/** Chunks of a file. */
export interface FileStream extends AsyncIterable<unknown> {
  destroy(): void;
}

/** Throws ConfigurationError where there are no files. */
export function fileSystem(): FileSystem {
  const files = builtinModule("node:fs");
  if (files === undefined) {
    throw new ConfigurationError(
      "Reading files requires Node (22.3 or later), Deno or Bun; on other platforms pass the bytes.",
    );
  }
  return files as FileSystem;
}
