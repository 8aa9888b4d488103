/**
 * The packages as they are published: built, checked by publint and arethetypeswrong, packed, and installed in empty folders. The client
 * is installed by every run, and run by the Node that SOUNDING_TEST_NODE names; server and command, which take minutes and a
 * gigabyte, are where SOUNDING_TEST_PACKAGES is set.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { readConsoleFiles } from "@sounding/console";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { packageNames as names, type PackageName as Name } from "../scripts/package-names.ts";
import { writeBillOfMaterials, writeChecksums } from "../scripts/release-files.ts";
import { beforeTests } from "./support/hooks.ts";
import { serveProcess } from "./support/served-process.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

let folder: string;
/** The packed packages' files. */
const tarballs = new Map<Name, string>();

beforeTests(async (stack) => {
  folder = await mkdtemp(join(tmpdir(), "sounding-packages-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await run(process.execPath, [join(root, "scripts/build-packages.ts")]);
  for (const name of names) {
    const args = ["pack", "--json", "--pack-destination", folder];
    const { stdout } = await run("npm", args, { cwd: join(root, "dist/packages", name) });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    tarballs.set(name, join(folder, filename));
  }
});

/** Creates an empty folder with packages installed in it. */
async function install(folderName: string, packages: readonly Name[]): Promise<string> {
  const directory = join(folder, folderName);
  await mkdir(directory);
  await writeFile(join(directory, "package.json"), `{ "type": "module" }`);
  const files = packages.map((name) => tarballs.get(name)!);
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...files], { cwd: directory });
  return directory;
}

describe("the published packages", { timeout: 600_000 }, () => {
  for (const name of names) {
    test(`${name} passes publint`, async () => {
      const pkgDir = join(root, "dist/packages", name);
      const { messages, pkg } = await publint({ pkgDir, strict: true });
      assert.deepEqual(
        messages.map((message) => formatMessage(message, pkg)),
        [],
      );
    });
  }

  test("a package says what it is, under which license, and how it was published", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    for (const name of names) {
      const text = await readFile(join(root, "dist/packages", name, "package.json"), "utf8");
      const manifest = JSON.parse(text) as Record<string, unknown>;
      assert.deepEqual(
        [manifest["version"], manifest["license"], manifest["publishConfig"]],
        [version, "Apache-2.0", { access: "public", provenance: true }],
      );
      assert.ok(typeof manifest["description"] === "string" && manifest["devDependencies"] === undefined, name);
      const { stdout } = await run("tar", ["--list", "--file", tarballs.get(name)!]);
      const files = stdout.trim().split("\n");
      for (const file of ["package.json", "README.md", "LICENSE", "NOTICE"])
        assert.ok(files.includes(`package/${file}`));
      assert.deepEqual(
        files.filter((file) => /\.test\.|\.map$|(?<!\.d)\.ts$|\.env/.test(file)),
        [],
      );
    }
  });

  test("a release has a bill of materials and checksums", async () => {
    const release = await mkdtemp(join(folder, "release-"));
    for (const tarball of tarballs.values()) await copyFile(tarball, join(release, basename(tarball)));
    const bill = writeBillOfMaterials(root, release, "1.2.3");
    writeChecksums(release);
    await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: release });
    const sums = await readFile(join(release, "SHA256SUMS"), "utf8");
    assert.deepEqual(
      sums
        .trim()
        .split("\n")
        .map((line) => line.slice(66)),
      [...[...tarballs.values()].map((tarball) => basename(tarball)), bill].toSorted(),
    );
    const { bomFormat, metadata, components } = JSON.parse(await readFile(join(release, bill), "utf8")) as {
      bomFormat: string;
      metadata: { component: { name: string } };
      components: { name: string; purl: string; licenses?: object[] }[];
    };
    assert.deepEqual([bomFormat, metadata.component.name], ["CycloneDX", "sounding"]);
    const found = new Set(components.map(({ name }) => name));
    for (const name of ["sonic-boom", "undici", "@sounding/server"]) assert.ok(found.has(name), name);
    for (const name of ["oxlint", "vitepress"]) assert.ok(!found.has(name), `${name} is only for development`);
  });

  for (const name of ["promql", "logql", "traceql", "client", "server"] as const) {
    test(`${name} has correct types in every supported module resolution`, async () => {
      const data = await readFile(tarballs.get(name)!);
      const result = await checkPackage(createPackageFromTarballData(new Uint8Array(data)));
      assert.ok(result.types !== false);
      // The packages are ESM, which CommonJS can load by `import()`, and since Node 22 by `require()`.
      assert.deepEqual(
        result.problems.filter(({ kind }) => kind !== "CJSResolvesToESM"),
        [],
      );
    });
  }

  test("the console has its built pages, and nothing to build them with", async () => {
    const folder = join(root, "dist/packages/console");
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { dependencies?: object };
    assert.equal(manifest.dependencies, undefined);
    const built = (await import(join(folder, "dist/published.js"))) as typeof import("@sounding/console");
    const files = await built.readConsoleFiles();
    const page = Buffer.from(files.get("index.html")!.bytes).toString();
    for (const [, path] of page.matchAll(/(?:src|href)="([^"]+)"/g)) assert.ok(files.has(path!), `${path} is missing`);
    assert.deepEqual(
      [...files.keys()].toSorted(),
      [...(await readConsoleFiles()).keys()].toSorted(),
      "the pages of a clone are others",
    );
  });

  test("the client runs in an otherwise empty folder", async () => {
    const directory = await install("client", ["client"]);
    await writeFile(
      join(directory, "ask.js"),
      `import { AsyncSounding, ConnectionError } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
const options = { apiKey: "sk-test", baseUrl: "http://127.0.0.1:1", maxRetries: 0 };
const errors = [];
await new AsyncSounding(options).models.list().catch((error) => errors.push(error instanceof ConnectionError));
try { new Sounding(options).models.list(); } catch (error) { errors.push(error instanceof ConnectionError); }
console.log(JSON.stringify(errors));
`,
    );
    const { stdout } = await run(process.env["SOUNDING_TEST_NODE"] ?? process.execPath, ["ask.js"], { cwd: directory });
    assert.equal(stdout, "[true,true]\n");
  });

  for (const [moduleResolution, module] of [
    ["node10", "commonjs"],
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["bundler", "esnext"],
  ] as const) {
    test(`the client's types compile with the module resolution ${moduleResolution}`, async () => {
      const directory = await install(`client-${moduleResolution}`, ["client"]);
      await writeFile(
        join(directory, "main.ts"),
        `import { AsyncSounding } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
export const text = async (): Promise<string | null | undefined> => {
  const { choices } = await new AsyncSounding().chat.completions.create({ model: "m", messages: [] });
  return choices[0]?.message.content ?? new Sounding().chat.completions.create({ model: "m", messages: [] }).id;
};
`,
      );
      const compiler = createRequire(import.meta.url).resolve("typescript-api/lib/tsc.js");
      const options = {
        strict: true,
        noEmit: true,
        target: "es2022",
        lib: ["es2022", "dom"],
        moduleResolution,
        module,
      };
      await writeFile(
        join(directory, "tsconfig.json"),
        JSON.stringify({ compilerOptions: { ...options, types: [] }, files: ["main.ts"] }),
      );
      const compiled = await run(process.execPath, [compiler, "--project", directory]).catch((error: unknown) => error);
      assert.equal((compiled as { stdout: string }).stdout, "");
    });
  }

  const isAsked = process.env["SOUNDING_TEST_PACKAGES"] !== undefined;
  const skip = isAsked ? false : "runs only with SOUNDING_TEST_PACKAGES=1: takes minutes and a gigabyte";

  test("the command runs the server and talks to it in a folder that has nothing else", { skip }, async () => {
    const directory = await install("command", names);
    const script = join(directory, "node_modules/@sounding/cli/bin/sounding.js");
    const modules = await readdir(join(directory, "node_modules"));
    const llamaPackages = modules.filter((name) => /llama|sherpa/.test(name));
    assert.deepEqual(llamaPackages, [], "local engines are installed");
    {
      await using server = await serveProcess({}, { script });
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(server.output.stdout)!;
      const [key] = /sk-[\w-]{43}/.exec(server.output.stdout)!;
      const speech = await fetch(`${url}/v1/audio/speech`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "flite", voice: "slt", input: "Six feet.", response_format: "mp3" }),
      });
      assert.deepEqual([speech.status, (await speech.arrayBuffer()).byteLength > 1000], [200, true]);
      assert.match(await (await fetch(`${url}/console/`)).text(), /<div id="console">/);
    }
    const advised = /run in the folder where Sounding is installed: npm (install node-llama-cpp@.*)/;
    const doctor = run(process.execPath, [script, "doctor", "--json"], { cwd: directory });
    const { stdout: report } = await doctor.catch((error: { stdout: string }) => error);
    const { findings } = JSON.parse(report) as { findings: { advice?: string }[] };
    const command = findings.map(({ advice = "" }) => advised.exec(advice)?.[1]).find((found) => found !== undefined);
    // As docs/operate/installation.md says, without the builds for graphics cards.
    const documentation = await readFile(join(root, "docs/operate/installation.md"), "utf8");
    const overrides = /```json\n(\{\n {2}"overrides".*?)```/s.exec(documentation)![1]!;
    const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as object;
    await writeFile(
      join(directory, "package.json"),
      JSON.stringify({ ...manifest, ...(JSON.parse(overrides) as object) }),
    );
    await run("npm", [...command!.split(" "), "--no-audit", "--no-fund", "--prefer-offline"], { cwd: directory });
    await using server = await serveProcess({}, { script });
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(server.output.stdout)!;
    const [key] = /sk-[\w-]{43}/.exec(server.output.stdout)!;
    const env = { ...process.env, SOUNDING_BASE_URL: url, SOUNDING_API_KEY: key };
    const answered = run(process.execPath, [script, "chat", "--model", "sounding-trial", "Who are you?"], { env });
    answered.child.stdin!.end();
    assert.match((await answered).stdout, /sounding-trial/);
    for (;;) {
      const { stdout } = await run(process.execPath, [script, "traces", "--json"], { env });
      if (stdout.includes("sounding-trial")) break;
    }
  });

  test(
    "a clone installs without a warning and starts, without development tools and with the machine's Node",
    { skip },
    async () => {
      const clone = join(folder, "clone");
      await run("git", ["clone", "--quiet", root, clone]);
      // What a shell has, in contrast to a script of npm.
      const path = process.env["PATH"]!.split(delimiter).filter((entry) => !entry.includes("node_modules"));
      const env = { PATH: path.join(delimiter), HOME: folder, SOUNDING_INSTALL: "false" };
      const installed = await run("npm", ["ci", "--omit=dev"], { cwd: clone, env: { ...process.env, PATH: env.PATH } });
      assert.equal(installed.stderr, "");
      const child = spawn("npm", ["start", "--", "--port", "0", "--data-dir", join(folder, "clone-data")], {
        cwd: clone,
        env,
        detached: true,
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (bytes: Buffer) => (output += bytes.toString()));
      const ended = once(child, "exit");
      const found = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      while (found() === undefined) {
        const over = await Promise.race([once(child.stdout, "data").then(() => false), ended.then(() => true)]);
        assert.equal(over, false, output);
      }
      const response = await fetch(`${found()}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${/sk-[\w-]{43}/.exec(output)![0]}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sounding-trial", messages: [{ role: "user", content: "Hello!" }] }),
      });
      assert.equal(response.status, 200);
      const closed = once(child, "close");
      // The shell between npm and the server passes no signals on.
      process.kill(-child.pid!, "SIGTERM");
      await closed;
    },
  );
});
