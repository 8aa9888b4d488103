/** A package registry with the protocols of PyPI and npm, which wants a password, and the packages that tests publish there. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { tarOf } from "./tar-file.ts";
import { zipOf, type ZipEntry } from "./zip-file.ts";

type Files = Readonly<Record<string, Uint8Array | string>>;

export interface WheelFacts {
  readonly name: string;
  readonly version?: string;
  /** Lines of METADATA. */
  readonly metadata?: readonly string[];
  /** By path. */
  readonly files: Files;
  /** Further entries, and lines of RECORD instead of the true ones by path. */
  readonly more?: readonly ZipEntry[];
  readonly record?: Readonly<Record<string, string | undefined>>;
}

export interface Wheel {
  readonly file: string;
  readonly bytes: Buffer;
}

export function wheelOf({ name, version = "1.0.0", metadata = [], files, more = [], record = {} }: WheelFacts): Wheel {
  const distribution = name.replaceAll("-", "_");
  const info = `${distribution}-${version}.dist-info`;
  const all: Files = {
    ...files,
    [`${info}/METADATA`]: [
      "Metadata-Version: 2.4",
      `Name: ${name}`,
      `Version: ${version}`,
      ...metadata,
      "",
      "License: not a field",
    ].join("\n"),
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  };
  const lines = Object.entries(all).map(([path, content]) => {
    const hash = createHash("sha256").update(content).digest("base64url");
    return path in record ? record[path] : `${path},sha256=${hash},${Buffer.from(content).length}`;
  });
  const entries = Object.entries({ ...all, [`${info}/RECORD`]: lines.filter((line) => line !== undefined).join("\n") });
  const bytes = zipOf([...entries.map(([path, content]) => ({ name: path, content })), ...more]);
  return { file: `${distribution}-${version}-py3-none-any.whl`, bytes };
}

export interface NpmPackage {
  readonly name: string;
  readonly version?: string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly files: Files;
}

export interface PackageRegistry extends AsyncDisposable {
  /** For pip and npm, with everything that they need to know. */
  readonly environment: Record<string, string | undefined>;
  readonly paths: string[];
  /** Answers with this status instead. */
  failure: number | undefined;
  /** Sends no more than half of an archive. */
  stalls: boolean;
}

/** What a user has in the environment, without settings of other registries. */
function plainEnvironment(): Record<string, string | undefined> {
  const wanted = ([name]: readonly [string, unknown]): boolean => !/^(?:pip_|npm_|.*proxy$)/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(wanted));
}

export async function startPackageRegistry(
  wheels: readonly Wheel[],
  npm: readonly NpmPackage[],
  home: string,
): Promise<PackageRegistry> {
  const paths: string[] = [];
  const state = { failure: undefined as number | undefined, stalls: false };
  const tarballs = new Map(npm.map((each) => [each.name, tarballOf(each)]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    paths.push(path);
    const allowed = request.headers.authorization === `Basic ${Buffer.from("reader:secret").toString("base64")}`;
    if (state.failure !== undefined || !allowed) response.writeHead(state.failure ?? 401).end();
    else if (path.startsWith("/simple/")) answerPip(path, wheels, response);
    else if (path.startsWith("/files/"))
      send(response, wheels.find(({ file }) => path.endsWith(file))?.bytes, state.stalls);
    else answerNpm(path, { npm, tarballs, url, response });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    ...plainEnvironment(),
    HOME: home,
    PIP_CONFIG_FILE: "/dev/null",
    PIP_RETRIES: "0",
    PIP_INDEX_URL: `http://reader:secret@127.0.0.1:${port}/simple/`,
    npm_config_userconfig: `${home}/.npmrc`,
    npm_config_cache: `${home}/npm-cache`,
    npm_config_fetch_retries: "0",
    npm_config_registry: `${url}/npm/`,
  };
  await writeFile(`${home}/.npmrc`, `//127.0.0.1:${port}/:_auth=${Buffer.from("reader:secret").toString("base64")}\n`);
  return Object.assign(state, {
    environment,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function send(response: ServerResponse, bytes: Buffer | undefined, stalls = false): void {
  if (bytes === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-length": bytes.length });
  if (stalls) response.write(bytes.subarray(0, bytes.length / 2));
  else response.end(bytes);
}

/** https://peps.python.org/pep-0503/ */
function answerPip(path: string, wheels: readonly Wheel[], response: ServerResponse): void {
  const name = path.split("/")[2]!;
  const own = wheels.filter(({ file }) => file.split("-")[0]!.replaceAll("_", "-").toLowerCase() === name);
  if (own.length === 0) {
    response.writeHead(404).end();
    return;
  }
  const links = own.map(({ file, bytes }) => `<a href="/files/${file}#sha256=${hash(bytes)}">${file}</a>`);
  response
    .writeHead(200, { "content-type": "text/html" })
    .end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

interface NpmAnswer {
  readonly npm: readonly NpmPackage[];
  readonly tarballs: ReadonlyMap<string, Buffer>;
  readonly url: string;
  readonly response: ServerResponse;
}

/** https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md */
function answerNpm(path: string, { npm, tarballs, url, response }: NpmAnswer): void {
  const [, name, version] = /^\/npm\/(.+?)(?:\/-\/(.+)\.tgz)?$/.exec(path) ?? [];
  const known = npm.find((each) => each.name === name);
  if (known === undefined) {
    response.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const tarball = tarballs.get(known.name)!;
  if (version !== undefined) {
    send(response, tarball);
    return;
  }
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const own = known.version ?? "1.0.0";
  const manifest = { name, version: own, dist: { tarball: `${url}/npm/${name}/-/${own}.tgz`, integrity } };
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ name, "dist-tags": { latest: own }, versions: { [own]: manifest } }));
}

function tarballOf({ name, version = "1.0.0", manifest = {}, files }: NpmPackage): Buffer {
  const all: Files = { "package.json": JSON.stringify({ name, version, ...manifest }), ...files };
  const tar = tarOf(Object.entries(all).map(([path, content]) => ({ path: `package/${path}`, content })));
  return gzipSync(tar, { level: 0 });
}
