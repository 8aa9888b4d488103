/** The files of the console as the server sends them: names, types, compressed and plain bytes. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** One file, ready to be sent. */
export interface ConsoleFile {
  readonly bytes: Uint8Array;
  /** With gzip; absent if that would not be smaller. */
  readonly compressed?: Uint8Array;
  /** Its media type. */
  readonly type: string;
  /** Whether the name changes with the content, so that browsers may keep the file. */
  readonly immutable: boolean;
}

/** The files by their path under `/console/`; the page itself is `index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

const compress = promisify(gzip);

/** @param path the path under `/console/` */
export async function consoleFile(path: string, bytes: Uint8Array): Promise<ConsoleFile> {
  const type = types[path.slice(path.lastIndexOf(".") + 1)];
  if (type === undefined) throw new Error(`The console's file ${path} has no known media type.`);
  const compressed = await compress(bytes, { level: 9 });
  return {
    bytes,
    ...(compressed.length < bytes.length ? { compressed } : {}),
    type,
    immutable: path.startsWith("assets/"),
  };
}
