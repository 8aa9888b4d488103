/** Describes a file to send, in any of the supported forms; nothing is read here. */
import { builtinModule } from "./environment.ts";
import { ConfigurationError } from "./errors.ts";

/**
 * The bytes of a file: a path or a `file:` URL, a `File` or `Blob`, bytes, a stream of Node's or the web's, anything that
 * iterates over bytes, or an open file. Text is a path. Only paths, blobs and bytes can be read again for another attempt.
 */
export type FileContent =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | Iterable<Uint8Array>
  | AsyncIterable<Uint8Array>
  | ReadableStream<Uint8Array>
  | { readonly fd: number };

/** A file with the name and the media type that it is sent with; the media type contains the rate of raw samples. */
export interface NamedFile {
  readonly content: FileContent;
  readonly name?: string | undefined;
  /** Such as `audio/L16; rate=8000`. */
  readonly type?: string | undefined;
}

export type FileInput = FileContent | NamedFile;

/** The source of the bytes. `pieces` and `descriptor` can be read only once. */
export type FileSource =
  | { readonly kind: "blob"; readonly blob: Blob }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "descriptor"; readonly fd: number }
  | { readonly kind: "pieces"; readonly pieces: Iterable<unknown> | AsyncIterable<unknown> };

export interface ReadableFile {
  readonly source: FileSource;
  readonly name: string;
  readonly type: string;
}

/** Throws ConfigurationError if it is not a file. */
export function readableFile(input: FileInput): ReadableFile {
  const named: NamedFile =
    typeof input === "object" && input !== null && "content" in input ? input : { content: input as FileContent };
  const { content } = named;
  return {
    source: sourceOf(content),
    name: named.name ?? nameOf(content) ?? "audio",
    type: named.type ?? ((content instanceof Blob && content.type) || "application/octet-stream"),
  };
}

function sourceOf(content: FileContent): FileSource {
  if (typeof content === "string") return { kind: "path", path: content };
  if (content instanceof URL) return { kind: "path", path: pathOf(content) };
  if (content instanceof Blob) return { kind: "blob", blob: content };
  if (content instanceof ArrayBuffer || ArrayBuffer.isView(content)) {
    return { kind: "blob", blob: new Blob([content as ArrayBuffer]) };
  }
  if (typeof content === "object" && content !== null) {
    if (Symbol.asyncIterator in content || Symbol.iterator in content) return { kind: "pieces", pieces: content };
    if (isWebStream(content)) return { kind: "pieces", pieces: piecesOf(content) };
    if (typeof content.fd === "number") return { kind: "descriptor", fd: content.fd };
  }
  throw new ConfigurationError("`file` must be a path, a Blob or File, bytes, a stream or an open file.");
}

/** `name` of a File; the last part of a path, which Node's file streams have too. */
function nameOf(content: FileContent): string | undefined {
  const { name, path } = content as { name?: unknown; path?: unknown };
  if (content instanceof Blob) return typeof name === "string" && name !== "" ? name : undefined;
  const place = typeof content === "string" ? content : content instanceof URL ? pathOf(content) : path;
  return typeof place === "string" ? place.split(/[/\\]/).at(-1) || undefined : undefined;
}

function pathOf(url: URL): string {
  const { fileURLToPath } = (builtinModule("node:url") ?? {}) as { fileURLToPath?: (url: URL) => string };
  if (url.protocol !== "file:" || fileURLToPath === undefined) {
    throw new ConfigurationError(`\`file\` is ${url.href}; it must be a file on this machine.`);
  }
  return fileURLToPath(url);
}

function isWebStream(content: object): content is ReadableStream<Uint8Array> {
  return "getReader" in content;
}

/** Some browsers' streams are not iterable. */
async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
