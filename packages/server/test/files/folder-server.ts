/** A server of many files: a hub that lists the files of a repository, and archives. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface FolderServer extends AsyncDisposable {
  readonly url: string;
  /** Paths of the GET requests that were answered with a file, with their range. */
  readonly fetched: string[];
  /** Ends the connection after this many bytes of an answer, this many times. */
  cut: { afterBytes: number; times: number };
}

/**
 * @param files by the path of their URL
 * @param listing what the hub lists, in pages
 */
export async function startFolderServer(
  files: Readonly<Record<string, Buffer>>,
  listing: readonly (readonly object[])[] = [],
): Promise<FolderServer> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, "http://localhost");
    if (url.pathname.startsWith("/api/models/")) {
      const page = Number(url.searchParams.get("page") ?? 0);
      const more = page + 1 < listing.length ? { link: `<${url.pathname}?page=${page + 1}>; rel="next"` } : {};
      response.writeHead(200, { "content-type": "application/json", ...more }).end(JSON.stringify(listing[page] ?? []));
      return;
    }
    const content = files[decodeURIComponent(url.pathname)];
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const body = content.subarray(start);
    response.writeHead(start === 0 ? 200 : 206, {
      "content-length": body.length,
      etag: `"${createHash("sha256").update(content).digest("hex").slice(0, 16)}"`,
      ...(start === 0 ? {} : { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` }),
    });
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    made.fetched.push(`${url.pathname}${start === 0 ? "" : ` from ${start}`}`);
    if (made.cut.times > 0 && body.length > made.cut.afterBytes) {
      made.cut.times--;
      response.write(body.subarray(0, made.cut.afterBytes), () => response.destroy());
    } else response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const made: FolderServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fetched: [],
    cut: { afterBytes: 0, times: 0 },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return made;
}
