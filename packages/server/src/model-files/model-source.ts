/**
 * Parses the argument of `models pull`: a file or a repository of the Hugging Face hub, or the URL of a file or an archive.
 */
import { AppError } from "../errors.ts";
import { readArchiveName, type ArchiveFormat } from "./extract-archive.ts";
import { isSafePath } from "./member-names.ts";
import { inputLimit } from "../input-limits.ts";

export interface FileSource {
  readonly kind: "file";
  readonly url: string;
  /** Where the file goes, within the models' directory; also its name in the configuration. */
  readonly name: string;
  /** Whether the URL belongs to the hub, which gets the hub's token. */
  readonly onHub: boolean;
}

/** An archive; the name is that of the folder that it becomes. */
export interface ArchiveSource extends Omit<FileSource, "kind"> {
  readonly kind: "archive";
  readonly format: ArchiveFormat;
}

/** All files of a repository; the name is that of the folder. */
export interface RepositorySource {
  readonly kind: "repository";
  readonly endpoint: string;
  readonly owner: string;
  readonly repository: string;
  readonly revision: string;
  readonly name: string;
}

export type ModelSource = FileSource | ArchiveSource | RepositorySource;

const defaultHubEndpoint = "https://huggingface.co";

function invalid(text: string, problem: string): AppError {
  return new AppError(
    "invalid_request",
    `${JSON.stringify(text)} ${problem}; specify owner/repository, owner/repository/file.gguf (or .onnx), or a URL of such a file or of a .zip, .tar.bz2, .tar.gz or .tar archive.`,
  );
}

/** Hidden names are those of locks, unfinished downloads and notes of our own. */
function requireSafe(text: string, segments: readonly string[]): void {
  if (!isSafePath(segments) || segments.some((segment) => segment.startsWith(".")))
    throw invalid(text, "is not the path of a file");
}

function requireModelFile(text: string, name: string): void {
  if (!/\.(?:gguf|onnx)$/i.test(name)) throw invalid(text, "names no .gguf or .onnx file");
}

/** The address of a file of the hub. */
export function hubUrl(
  { endpoint, owner, repository, revision }: Omit<RepositorySource, "kind" | "name">,
  path: readonly string[],
): string {
  const [inOwner, inRepository, ...file] = [owner, repository, ...path].map(encodeURIComponent);
  return `${endpoint}/${inOwner}/${inRepository}/resolve/${encodeURIComponent(revision)}/${file.join("/")}`;
}

function hubSource(text: string, endpoint: string): ModelSource {
  const [path = "", revision = "main"] = text.split("@");
  const segments = path.split("/");
  if (segments.length < 2) throw invalid(text, "does not name a repository");
  requireSafe(text, segments);
  // A branch may have slashes: refs/pr/1.
  requireSafe(text, revision.split("/"));
  const [owner, repository, ...file] = segments as [string, string, ...string[]];
  const place = { endpoint, owner, repository, revision };
  if (file.length === 0) return { kind: "repository", ...place, name: segments.join("/") };
  requireModelFile(text, segments.at(-1)!);
  return { kind: "file", url: hubUrl(place, file), name: segments.join("/"), onHub: true };
}

/** The segments of a URL's path as they are used: names are checked after decoding, never before. */
function decodedSegments(text: string, { pathname }: URL): string[] {
  try {
    return pathname.split("/").slice(1).map(decodeURIComponent);
  } catch {
    throw invalid(text, "has a path with broken percent-encoding");
  }
}

function urlSource(text: string, endpoint: string): ModelSource {
  if (!URL.canParse(text)) throw invalid(text, "is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw new AppError("invalid_request", "The URL contains a user name or password, which is not supported.");
  const onHub = url.origin === new URL(endpoint).origin;
  const segments = decodedSegments(text, url);
  const [owner, repository, kind, revision, ...file] = segments;
  const name = segments.at(-1)!;
  const archive = readArchiveName(name);
  if (archive !== undefined && !archive.isWheel) {
    requireSafe(text, [archive.name]);
    return { kind: "archive", url: url.href, name: archive.name, onHub, format: archive.format };
  }
  if (onHub && (kind === "resolve" || kind === "blob") && file.length > 0) {
    return hubSource(`${[owner, repository, ...file].join("/")}@${revision}`, endpoint);
  }
  if (onHub && segments.length === 2) return hubSource(segments.join("/"), endpoint);
  requireSafe(text, [name]);
  requireModelFile(text, name);
  return { kind: "file", url: url.href, name, onHub };
}

/**
 * Reads a source. A repository, or a file in one, may have a revision behind an @ sign.
 * @throws AppError invalid_request
 */
export function parseModelSource(text: string, hubEndpoint: string = defaultHubEndpoint): ModelSource {
  const endpoint = hubEndpoint.replace(/\/+$/, "");
  return /^https?:\/\//.test(text) ? urlSource(text, endpoint) : hubSource(text.replace(/^hf:(\/\/)?/, ""), endpoint);
}

/** Files of one split model. */
export const mostParts = inputLimit({
  area: "Configuration and model files",
  bounds: "Files of one split model",
  value: 1_000,
  error: { instead: "`sounding models pull` fails" },
});

/**
 * All files of a split model, from one of them: `…-00001-of-00003.gguf`.
 * @throws AppError invalid_request
 */
export function partsOf(source: FileSource): FileSource[] {
  const match = /-(\d{5})-of-(\d{5})\.gguf$/.exec(source.name);
  if (match === null) return [source];
  if (Number(match[2]) > mostParts) {
    throw new AppError(
      "invalid_request",
      `${JSON.stringify(source.name)} is one of ${Number(match[2])} parts; a model may have at most ${mostParts}.`,
    );
  }
  return Array.from({ length: Number(match[2]) }, (_, index) => {
    const part = `-${String(index + 1).padStart(5, "0")}-of-${match[2]}.gguf`;
    return { ...source, name: source.name.replace(match[0], part), url: source.url.replace(match[0], part) };
  });
}
