/**
 * Lists the files of a Hugging Face hub repository.
 * https://huggingface.co/docs/hub/api#get-apimodelsrepoidtreerevisionpath
 */
import { AppError } from "../errors.ts";
import { isSafePath, MemberNames } from "./member-names.ts";
import type { RepositorySource } from "./model-source.ts";
import { readBounded, requestFile, type RemoteFile } from "./remote-file.ts";
import { explainNoResponse } from "./no-response.ts";
import { inputLimit } from "../input-limits.ts";

export interface RepositoryFile {
  /** Within the repository. */
  readonly path: readonly string[];
  readonly sizeBytes: number;
}

/** Pictures, examples and notes, which no engine reads. */
const unneeded = /(?:^|\/)(?:\.[^/]*|test_wavs|README\.md|.*\.(?:py|sh|ipynb|png|jpg|gif|wav|mp3))(?:\/|$)/i;
const mostFiles = inputLimit({
  area: "Configuration and model files",
  bounds: "Files of a pulled repository",
  value: 10_000,
  error: { instead: "`sounding models pull` fails" },
});
const mostPages = 100;
/** Bytes of one page of a listing; the hub's have 1,000 entries of some hundred bytes. */
const longestPage = inputLimit({
  area: "Configuration and model files",
  bounds: "One page of a repository's listing",
  value: 16 * 2 ** 20,
  unit: "bytes",
  error: { instead: "`sounding models pull` fails" },
});

interface Entry {
  readonly type?: unknown;
  readonly path?: unknown;
  readonly size?: unknown;
}

/** @throws AppError not_found, permission_denied, overloaded or upstream_failed */
export async function listRepository(
  source: RepositorySource,
  { token, proxies, signal }: Pick<RemoteFile, "token" | "proxies"> & { readonly signal: AbortSignal },
): Promise<RepositoryFile[]> {
  const { endpoint, owner, repository, revision } = source;
  const [inOwner, inRepository, inRevision] = [owner, repository, revision].map(encodeURIComponent);
  let url: string | undefined = `${endpoint}/api/models/${inOwner}/${inRepository}/tree/${inRevision}?recursive=true`;
  const files: RepositoryFile[] = [];
  const names = new MemberNames();
  for (let page = 0; url !== undefined && page < mostPages; page++) {
    const { response } = await requestFile({ url, token, proxies }, { method: "GET", signal }).catch(explainNoResponse);
    const entries = parseJson(await readBounded(response, longestPage));
    if (!Array.isArray(entries))
      throw new AppError("upstream_failed", `${new URL(url).host} lists no files of ${source.name}.`);
    for (const entry of entries as (Entry | null)[]) {
      const file = toFile(entry ?? {});
      if (file === undefined) continue;
      const collision = names.collision(file.path, "file");
      if (collision !== undefined)
        throw new AppError("upstream_failed", `The listing of ${source.name} cannot be used: ${collision}.`);
      files.push(file);
    }
    if (files.length > mostFiles)
      throw new AppError("upstream_failed", `${source.name} has more than ${mostFiles} files.`);
    url = nextPage(response, url);
  }
  if (files.length === 0) throw new AppError("not_found", `${source.name} contains no model files.`);
  return files;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toFile({ type, path, size }: Entry): RepositoryFile | undefined {
  if (type !== "file" || typeof path !== "string") return undefined;
  const segments = path.split("/");
  if (!isSafePath(segments))
    throw new AppError("upstream_failed", `${JSON.stringify(path.slice(0, 500))} is not the path of a file.`);
  if (unneeded.test(path)) return undefined;
  return { path: segments, sizeBytes: typeof size === "number" && size >= 0 ? size : 0 };
}

/** `Link: <…>; rel="next"`, on the same host. */
function nextPage({ headers }: Response, url: string): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
  if (next === undefined || !URL.canParse(next, url)) return undefined;
  const { href, origin } = new URL(next, url);
  return origin === new URL(url).origin ? href : undefined;
}
