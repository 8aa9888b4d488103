/**
 * A request's body in a form that can be sent to another thread: an open file by its descriptor, a file stream by its
 * path.
 */
import { ConfigurationError } from "./errors.ts";
import type { FileSource } from "./file-input.ts";
import type { HttpRequest } from "./request.ts";
import type { PortableRequest } from "./sync-messages.ts";

interface PortableBody {
  readonly body: PortableRequest["body"];
  /** The file, if it must be sent piece by piece. */
  readonly pieces: Iterator<unknown> | undefined;
}

/** Throws ConfigurationError for a stream, which a blocked thread cannot wait for. */
export function portableBody(body: HttpRequest["body"]): PortableBody {
  if (typeof body !== "object") return { body, pieces: undefined };
  if (body.source.kind !== "pieces") return { body: { ...body, source: body.source }, pieces: undefined };
  const file = heldFile(body.source.pieces);
  if (file !== undefined) return { body: { ...body, source: file }, pieces: undefined };
  if (!(Symbol.iterator in body.source.pieces)) {
    throw new ConfigurationError(
      "`file` is a stream, which the synchronous client does not support; pass a path, bytes or an open file.",
    );
  }
  return { body: { ...body, source: { kind: "asked" } }, pieces: body.source.pieces[Symbol.iterator]() };
}

/** The file of a Node stream: already open, like standard input, or not yet read. */
function heldFile(stream: object): Exclude<FileSource, { kind: "pieces" | "blob" }> | undefined {
  const { fd, path, start, end = Infinity, bytesRead = 0 } = stream as Readonly<Record<string, unknown>>;
  const isWhole = start === undefined && end === Infinity && bytesRead === 0;
  if (isWhole && typeof fd === "number") return { kind: "descriptor", fd };
  if (!isWhole || typeof path !== "string") return undefined;
  const unused = stream as { on?: (event: "error", listener: () => void) => void; destroy?: () => void };
  // It may still be opening its file, and fail.
  unused.on?.("error", () => undefined);
  unused.destroy?.();
  return { kind: "path", path };
}
