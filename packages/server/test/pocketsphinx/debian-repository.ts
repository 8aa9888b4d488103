/**
 * An apt repository on this machine, for tests: the installed packages of PocketSphinx, packed again and served over HTTP
 * to the real apt, which finds it through the file that APT_CONFIG names.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface DebianRepository extends AsyncDisposable {
  /** What the variable APT_CONFIG must be. */
  readonly aptConfig: string;
  /** A file that a hook of apt would create. */
  readonly hookMark: string;
  /** Set to answer requests whose path contains the text. Returns whether it did. */
  intercept: ((path: string, request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

const candidates = [
  "libpocketsphinx3",
  "libsphinxbase3",
  "pocketsphinx-en-us",
  "libblas3",
  "liblapack3",
  "libgfortran5",
  "libquadmath0",
];

export async function serveRepository(): Promise<DebianRepository> {
  const folder = await mkdtemp(join(tmpdir(), "sounding-repository-"));
  const records: string[] = [];
  for (const name of candidates) records.push(await pack(name, folder).catch(() => ""));
  await writeFile(join(folder, "Packages"), records.join("\n"));
  const repository: { intercept: DebianRepository["intercept"] } = { intercept: undefined };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url!, "http://repository").pathname);
    if (repository.intercept?.(path, request, response)) return;
    readFile(join(folder, path)).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const hookMark = join(folder, "hook-ran");
  const aptConfig = join(folder, "apt.conf");
  await writeFile(
    aptConfig,
    `Dir::Etc::sourcelist "${folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::parts "/dev/null";
Acquire::http::Proxy "DIRECT";
APT::Update::Pre-Invoke { "touch ${hookMark}"; };
APT::Update::Post-Invoke { "touch ${hookMark}"; };
APT::Update::Post-Invoke-Success { "touch ${hookMark}"; };
`,
  );
  const { port } = server.address() as AddressInfo;
  await writeFile(join(folder, "sources.list"), `deb [trusted=yes] http://127.0.0.1:${port}/ ./\n`);
  return Object.assign(repository, {
    aptConfig,
    hookMark,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  });
}

/** Packs an installed package. @returns its record in the list of packages */
async function pack(name: string, folder: string): Promise<string> {
  const { stdout: architecture } = await run("dpkg", ["--print-architecture"]);
  const tree = join(folder, "tree", name);
  await mkdir(join(tree, "DEBIAN"), { recursive: true });
  const { stdout: files } = await run("dpkg", ["-L", name]);
  for (const file of files.split("\n").filter((path) => /\.so|\/model\//.test(path))) {
    // A package has its own copy of each file, also where the machine has links from one folder to another.
    const target = join(tree, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(await realpath(file), target, { recursive: true });
  }
  const control = [
    `Package: ${name}`,
    "Version: 1.0",
    `Architecture: ${architecture.trim()}`,
    "Maintainer: Test <test@example.org>",
    "Description: packed again for a test",
  ].join("\n");
  await writeFile(join(tree, "DEBIAN/control"), `${control}\n`);
  // A script that runs at an installation must not run.
  await writeFile(join(tree, "DEBIAN/preinst"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  await run("dpkg-deb", ["-Znone", "--build", tree, folder]);
  await rm(tree, { recursive: true });
  const file = (await readdir(folder)).find((entry) => entry.startsWith(`${name}_`))!;
  const bytes = await readFile(join(folder, file));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return `${control}\nFilename: ./${file}\nSize: ${bytes.length}\nSHA256: ${sha256}\n`;
}
