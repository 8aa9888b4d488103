/** What `models pull` is given: a file of a repository on the Hugging Face hub, or any URL. */
import { AppError } from "../../errors.ts";

export interface ModelSource {
  readonly url: string;
  /** Where the file goes, within the models' directory; also its name in the configuration. */
  readonly name: string;
  /** Whether the URL belongs to the hub, which gets the hub's token. */
  readonly onHub: boolean;
}

export const defaultHubEndpoint = "https://huggingface.co";

function invalid(text: string, problem: string): AppError {
  return new AppError(
    "invalid_request",
    `${JSON.stringify(text)} ${problem}; give owner/repository/file.gguf, or a URL of a .gguf file.`,
  );
}

function requireSafe(text: string, segments: readonly string[]): void {
  const bad = segments.find(
    (segment) =>
      ["", ".", ".."].includes(segment) || segment.includes("\\") || Array.from(segment).some((each) => each < " "),
  );
  if (bad !== undefined) throw invalid(text, "is not a path of a file");
  if (!segments.at(-1)!.toLowerCase().endsWith(".gguf")) throw invalid(text, "does not name a .gguf file");
}

function hubSource(text: string, endpoint: string): ModelSource {
  const [path = "", revision = "main"] = text.split("@");
  const segments = path.split("/");
  if (segments.length < 3) throw invalid(text, "names no file of a repository");
  requireSafe(text, segments);
  const [owner, repository, ...file] = segments.map(encodeURIComponent);
  const url = `${endpoint}/${owner}/${repository}/resolve/${encodeURIComponent(revision)}/${file.join("/")}`;
  return { url, name: segments.join("/"), onHub: true };
}

function urlSource(text: string, endpoint: string): ModelSource {
  if (!URL.canParse(text)) throw invalid(text, "is not a URL");
  const url = new URL(text);
  const onHub = url.origin === new URL(endpoint).origin;
  const segments = url.pathname.split("/").slice(1).map(decodeURIComponent);
  const [owner, repository, kind, revision, ...file] = segments;
  if (onHub && (kind === "resolve" || kind === "blob") && file.length > 0) {
    return hubSource(`${[owner, repository, ...file].join("/")}@${revision}`, endpoint);
  }
  const name = segments.at(-1)!;
  requireSafe(text, [name]);
  return { url: url.href, name, onHub };
}

/**
 * Reads a source. A repository's file may have a revision behind an @ sign.
 * @throws AppError invalid_request
 */
export function parseModelSource(text: string, hubEndpoint: string = defaultHubEndpoint): ModelSource {
  const endpoint = hubEndpoint.replace(/\/+$/, "");
  return /^https?:\/\//.test(text) ? urlSource(text, endpoint) : hubSource(text.replace(/^hf:(\/\/)?/, ""), endpoint);
}

/** All files of a model that is split over several, given one of them: `…-00001-of-00003.gguf`. */
export function partsOf(source: ModelSource): ModelSource[] {
  const match = /-(\d{5})-of-(\d{5})\.gguf$/.exec(source.name);
  if (match === null) return [source];
  return Array.from({ length: Number(match[2]) }, (_, index) => {
    const part = `-${String(index + 1).padStart(5, "0")}-of-${match[2]}.gguf`;
    return { ...source, name: source.name.replace(match[0], part), url: source.url.replace(match[0], part) };
  });
}
