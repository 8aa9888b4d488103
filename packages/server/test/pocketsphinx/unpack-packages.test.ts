/** Unpacks PocketSphinx's packages with the real apt and dpkg, from a repository on this machine. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { silentLogger } from "../../src/logger.ts";
import { createPocketSphinxEngine } from "../../src/engines/pocketsphinx/engine.ts";
import { unpackPocketSphinx } from "../../src/engines/pocketsphinx/unpack-packages.ts";
import { serveRepository, type DebianRepository } from "./debian-repository.ts";
import { pocketSphinxSettings } from "./engine-settings.ts";
import { callOf, recording, silence, speak } from "./spoken.ts";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

const never = new AbortController().signal;
const inherited = { PATH: process.env["PATH"], APT_CONFIG: process.env["APT_CONFIG"] };
let repository: DebianRepository;
let dataDirectory: string;

/** Whether the data directory has a whole copy, whatever the machine has. */
function isUnpacked(directory: string): boolean {
  return existsSync(join(directory, "pocketsphinx/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"));
}

async function unpack(signal = never): Promise<{ unpacked: boolean; notices: string[] }> {
  const notices: string[] = [];
  const notify = (notice: string): void => void notices.push(notice);
  const options = { dataDirectory, logger: silentLogger, notify, signal, isInstalled: isUnpacked };
  return { unpacked: await unpackPocketSphinx(options), notices };
}

/** Leaves requests for the path unanswered. Resolves with the first of them. */
function holdRequest(part: string): Promise<IncomingMessage> {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  repository.intercept = (path, request) => {
    if (!path.includes(part)) return false;
    resolve(request);
    return true;
  };
  return promise;
}

/** The files that the recognizers of this process have mapped. */
function mappedFiles(): string {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ");
  return children.map((pid) => readFileSync(`/proc/${pid}/maps`, "utf8")).join("");
}

describe("unpacking PocketSphinx", { skip: needs("pocketsphinx") }, () => {
  beforeTests(async (stack) => {
    repository = stack.use(await serveRepository());
  });
  beforeEachTest(async (stack) => {
    dataDirectory = await mkdtemp(join(tmpdir(), "sounding-unpack-"));
    stack.defer(() => rm(dataDirectory, { recursive: true, force: true }));
    stack.defer(() => {
      for (const [name, value] of Object.entries(inherited)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    process.env["APT_CONFIG"] = repository.aptConfig;
    repository.intercept = undefined;
  });

  test("adds a copy to the data directory that transcribes with its own libraries, and changes nothing else", async () => {
    const machine = await Promise.all(
      ["/var/lib/apt/lists", "/var/cache/apt", "/var/lib/dpkg"].map((path) => stat(path)),
    );
    const { unpacked, notices } = await unpack();
    assert.equal(unpacked, true, notices.join("\n"));
    assert.ok(notices[0]!.includes(`unpacked into ${join(dataDirectory, "pocketsphinx")}. Nothing is installed.`));
    assert.match(notices[2]!, /downloading \d packages \(\d+ MB\)/);
    assert.match(notices[3]!, /is ready; the model is "pocketsphinx"/);
    assert.deepEqual(readdirSync(dataDirectory), ["pocketsphinx"]);
    assert.equal(existsSync(repository.hookMark), false, "apt's hooks ran");
    for (const [index, path] of ["/var/lib/apt/lists", "/var/cache/apt", "/var/lib/dpkg"].entries()) {
      assert.equal((await stat(path)).mtimeMs, machine[index]!.mtimeMs, path);
    }
    assert.equal((await unpack()).notices.length, 0, "unpacked twice");

    const engine = createPocketSphinxEngine("pocketsphinx", pocketSphinxSettings, {
      logger: silentLogger,
      dataDirectory,
    });
    const { samples } = await speak("The weather is very good today.", "rms");
    const events = await Array.fromAsync(
      engine.transcription!("pocketsphinx")!.transcribe(callOf(recording(silence(1), samples))),
    );
    const maps = mappedFiles();
    await engine.close();
    assert.match(events.map((event) => ("text" in event ? event.text : "")).join(" "), /weather is very good today/);
    for (const library of ["libpocketsphinx", "libsphinxbase", "libblas", "liblapack", "libgfortran"]) {
      const paths = maps.split("\n").filter((line) => line.includes(`/${library}.so`));
      assert.ok(paths.length > 0, `${library} is not loaded`);
      for (const path of paths) assert.ok(path.includes(`${dataDirectory}/pocketsphinx/`), path);
    }
  });

  test("starts again after a process that was killed while it downloaded, and removes what that left", async () => {
    const downloading = holdRequest("pocketsphinx-en-us_");
    const script = fileURLToPath(new URL("unpack-process.ts", import.meta.url));
    const child = fork(script, [dataDirectory]);
    const request = await downloading;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    assert.deepEqual(
      readdirSync(dataDirectory).map((name) => name.split("-")[0]),
      ["pocketsphinx.partial"],
    );
    repository.intercept = undefined;
    request.socket.destroy();
    assert.equal((await unpack()).unpacked, true);
    assert.deepEqual(readdirSync(dataDirectory), ["pocketsphinx"]);
  });

  test("two at the same time both end with a whole copy", async () => {
    const both = await Promise.all([unpack(), unpack()]);
    for (const { unpacked, notices } of both) assert.equal(unpacked, true, notices.join("\n"));
    assert.deepEqual(readdirSync(dataDirectory), ["pocketsphinx"]);
    assert.ok(isUnpacked(dataDirectory));
  });

  test("replaces an incomplete copy", async () => {
    await mkdir(join(dataDirectory, "pocketsphinx/usr/lib"), { recursive: true });
    await writeFile(join(dataDirectory, "pocketsphinx/usr/lib/remains"), "");
    assert.equal((await unpack()).unpacked, true);
    assert.equal(existsSync(join(dataDirectory, "pocketsphinx/usr/lib/remains")), false);
    assert.deepEqual(readdirSync(dataDirectory), ["pocketsphinx"]);
  });

  test("stops apt and leaves nothing when the server shuts down", async () => {
    const downloading = holdRequest("pocketsphinx-en-us_");
    const controller = new AbortController();
    const unpacking = unpack(controller.signal);
    const request = await downloading;
    const closed = new Promise((resolve) => request.socket.once("error", () => {}).once("close", resolve));
    controller.abort();
    const { unpacked, notices } = await unpacking;
    await closed;
    assert.equal(unpacked, false);
    assert.doesNotMatch(notices.join("\n"), /could not/);
    assert.deepEqual(readdirSync(dataDirectory), []);
  });

  /** @returns the last notice of an attempt that fails */
  async function failedAttempt(): Promise<string> {
    const { unpacked, notices } = await unpack();
    assert.equal(unpacked, false);
    assert.deepEqual(readdirSync(dataDirectory), []);
    assert.match(
      notices.at(-1)!,
      /`sounding models pull \S+`, or have an administrator run `apt-get install libpocketsphinx3 /,
    );
    return notices.at(-1)!;
  }

  test("says what the reason is, and how to add transcription, on a system without apt", async () => {
    process.env["PATH"] = dataDirectory;
    const notice = await failedAttempt();
    assert.match(notice, /could not be added: This system has no apt-get\. To add transcription, /);
  });

  test("says so when the release has no such packages", async () => {
    repository.intercept = (path, _request, response) => {
      if (!path.endsWith("/Packages")) return false;
      response.end();
      return true;
    };
    assert.match(await failedAttempt(), /The sources of apt have no package libpocketsphinx3 or pocketsphinx-en-us\./);
  });

  test("says so when the server with the packages cannot be reached", async () => {
    repository.intercept = (_path, request) => {
      request.socket.destroy();
      return true;
    };
    assert.match(await failedAttempt(), /could not be added: .*http:\/\/127\.0\.0\.1:\d+/);
  });

  test("refuses a package that is not the one that the list names", async () => {
    repository.intercept = (path, _request, response) => {
      if (!path.includes("libpocketsphinx3_")) return false;
      response.end("not the package");
      return true;
    };
    assert.match(await failedAttempt(), /could not be added: .*libpocketsphinx3/);
  });
});
