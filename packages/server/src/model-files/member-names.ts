/** Validates file names from URLs, hub listings and archives. */
import { inputLimit } from "../input-limits.ts";

/** Bytes of one segment. Names of lock files and unfinished downloads add some, and most file systems take 255. */
export const longestNameBytes = inputLimit({
  area: "Configuration and model files",
  bounds: "One segment of a path in an archive or listing",
  value: 200,
  unit: "bytes",
  error: { instead: "`sounding models pull` fails" },
});
/** Segments of one path. */
export const deepestPath = inputLimit({
  area: "Configuration and model files",
  bounds: "Segments of a path in an archive or listing",
  value: 32,
  error: { instead: "`sounding models pull` fails" },
});

// eslint-disable-next-line no-control-regex -- control characters are among what must be refused
const forbidden = /[\\/\x00-\x1f\x7f-\x9f]/;

/** Whether every segment, already decoded, is the plain name of a file or folder. */
export function isSafePath(segments: readonly string[]): boolean {
  return (
    segments.length <= deepestPath &&
    segments.every(
      (segment) =>
        !["", ".", ".."].includes(segment) &&
        !forbidden.test(segment) &&
        segment.isWellFormed() &&
        Buffer.byteLength(segment) <= longestNameBytes,
    )
  );
}

/**
 * The paths of one listing or archive. Two files may not have the same path, nor may a file be a folder elsewhere.
 * Names that differ only in case are the same file on some file systems, so they count as equal.
 */
export class MemberNames {
  readonly #kinds = new Map<string, "file" | "folder">();

  /** Why a member conflicts with those before it; undefined if it does not. */
  collision(segments: readonly string[], kind: "file" | "folder"): string | undefined {
    const folded = segments.map((segment) => segment.normalize("NFC").toLowerCase());
    for (let depth = 1; depth <= folded.length; depth++) {
      const path = folded.slice(0, depth).join("/");
      const isLast = depth === folded.length;
      const known = this.#kinds.get(path);
      const wanted = isLast ? kind : "folder";
      if (known !== undefined && (known === "file" || wanted === "file"))
        return `${JSON.stringify(segments.slice(0, depth).join("/"))} appears twice`;
      this.#kinds.set(path, wanted);
    }
    return undefined;
  }
}
