/** Pulls models that are folders: repositories of the hub, and archives. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { create, Header } from "tar";
import { removeModel } from "../../src/model-files/remove-model.ts";
import { listStoredModels } from "../../src/model-files/stored-models.ts";
import { pullModel } from "../../src/model-files/pull-model.ts";
import type { PullOptions } from "../../src/model-files/pull-options.ts";
import { silentLogger } from "../../src/logger.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { speechCall } from "../sherpa-onnx/test-engine.ts";
import { writeTinyVoice } from "../sherpa-onnx/tiny-voice.ts";
import { startFolderServer, type FolderServer } from "./folder-server.ts";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

const noise = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 31) >> 5));

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

describe("a model that is a folder", () => {
  let workspace: string;
  let dataDirectory: string;
  /** The files of a voice, and an archive of its folder. */
  let voiceFiles: Record<string, Buffer>;
  let tar: Buffer;

  beforeTests(async (stack) => {
    workspace = await mkdtemp(join(tmpdir(), "sounding-archives-"));
    stack.defer(() => rm(workspace, { recursive: true }));
    const folder = join(workspace, "tiny-voice");
    await writeTinyVoice(folder);
    await mkdir(join(folder, "notes"));
    await writeFile(join(folder, "notes", "noise.bin"), noise);
    voiceFiles = {
      "tiny-voice.onnx": await readFile(join(folder, "tiny-voice.onnx")),
      "tokens.txt": await readFile(join(folder, "tokens.txt")),
      "notes/noise.bin": noise,
    };
    tar = await archiveOf(["tiny-voice"]);
  });
  beforeEachTest(async (stack) => {
    dataDirectory = await mkdtemp(join(tmpdir(), "sounding-pull-"));
    stack.defer(() => rm(dataDirectory, { recursive: true }));
  });

  /** Of the contents of the workspace. */
  async function archiveOf(names: string[]): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(create({ cwd: workspace, portable: true }, names)));
  }

  function pull(server: FolderServer, source: string, options: Partial<PullOptions> = {}) {
    const signal = new AbortController().signal;
    return pullModel({ dataDirectory, source, hubEndpoint: server.url, signal, retryPauseMs: 1, ...options });
  }

  async function everything(): Promise<string[]> {
    return (await readdir(join(dataDirectory, "models"), { recursive: true, withFileTypes: true }).catch(() => []))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(dataDirectory, "models").length + 1))
      .sort();
  }

  async function speaks(folder: string): Promise<boolean> {
    const models = { voice: { kind: "vits", folder, files: {} } } as const;
    const engine = await createSherpaOnnxEngine(
      "e",
      { type: "sherpa_onnx", models },
      { logger: silentLogger, dataDirectory },
    );
    try {
      const pieces = await Array.fromAsync(engine.speech!("voice")!.speak(speechCall("Hi.", { voice: "voice" })));
      return pieces[0]!.samples.some((sample) => sample > 0.05);
    } finally {
      await engine.close();
    }
  }

  const repository = (changes: Record<string, Buffer> = {}) => {
    const files = { ...voiceFiles, ...changes };
    const served = Object.entries(files).map(([path, content]) => [`/owner/voice/resolve/main/${path}`, content]);
    const entries = Object.entries(files).map(([path, { length }]) => ({ type: "file", path, size: length }));
    return { files: Object.fromEntries(served) as Record<string, Buffer>, entries };
  };

  test("is pulled as a repository of the hub, page by page of its list, and speaks", async () => {
    const { files, entries } = repository({ "README.md": Buffer.from("#"), "test_wavs/0.wav": noise });
    const pages = [[{ type: "directory", path: "notes" }, ...entries.slice(0, 2)], entries.slice(2)];
    await using server = await startFolderServer(files, pages);
    let shown = 0;
    const pulled = await pull(server, "owner/voice", {
      onProgress: (name, { doneBytes, totalBytes }) => {
        assert.equal(name, "owner/voice");
        assert.ok(doneBytes <= totalBytes!);
        shown = doneBytes / totalBytes!;
      },
    });
    assert.equal(shown, 1);
    assert.equal(pulled.folder?.name, "owner/voice");
    assert.deepEqual(
      await everything(),
      ["notes/noise.bin", "tiny-voice.onnx", "tokens.txt"].map((name) => join("owner", "voice", name)),
    );
    const [folder] = (await listStoredModels(dataDirectory)).models;
    assert.deepEqual([folder?.name, folder?.kind], ["owner/voice", "vits"]);
    assert.ok(folder!.sizeBytes > noise.length);
    assert.ok(await speaks("owner/voice"));
    server.fetched.length = 0;
    assert.ok((await pull(server, `${server.url}/owner/voice`)).files.every(({ alreadyThere }) => alreadyThere));
    assert.deepEqual(server.fetched, []);
    assert.deepEqual(await removeModel(dataDirectory, "owner/voice"), ["owner/voice"]);
    assert.deepEqual(await readdir(join(dataDirectory, "models")), []);
  });

  test("resumes where a file of a repository was interrupted", async () => {
    const { files, entries } = repository();
    await using server = await startFolderServer(files, [entries]);
    server.cut = { afterBytes: 100_000, times: 2 };
    await pull(server, "owner/voice");
    const parts = server.fetched.filter((path) => path.includes("noise"));
    assert.equal(parts.length, 3);
    // The network determines how much of an answer arrives before its connection breaks.
    const [second, third] = parts.slice(1).map((path) => Number(path.split(" from ")[1]));
    assert.ok(second! > 0 && third! > second!, parts.join("; "));
    assert.deepEqual(await readFile(join(dataDirectory, "models/owner/voice/notes/noise.bin")), noise);
  });

  test("is refused if the hub lists a file outside, no file, or something else", async () => {
    for (const [page, code] of [
      [[{ type: "file", path: "../../evil", size: 1 }], "upstream_failed"],
      [[{ type: "file", path: "a\\..\\evil", size: 1 }], "upstream_failed"],
      [[{ type: "file", path: "README.md", size: 1 }], "not_found"],
      [[], "not_found"],
    ] as const) {
      await using server = await startFolderServer({}, [page]);
      await assert.rejects(pull(server, "owner/voice"), { code });
    }
    for (const [path, problem] of [
      ["page.onnx", /it is not an ONNX file/],
      ["PAGE.ONNX", /it is not an ONNX file/],
      ["page.gguf", /it is not a GGUF file/],
    ] as const) {
      const { files, entries } = repository({ [path]: Buffer.from("<!doctype html>") });
      await using server = await startFolderServer(files, [entries]);
      await assert.rejects(pull(server, "owner/voice"), problem, path);
    }
  });

  for (const [suffix, pack] of [
    ["tar", (bytes: Buffer) => bytes],
    ["tar.gz", (bytes: Buffer) => gzipSync(bytes)],
    ["tgz", (bytes: Buffer) => gzipSync(bytes)],
    ["tar.bz2", (bytes: Buffer) => spawnSync("bzip2", { input: bytes, maxBuffer: 2 ** 30 }).stdout],
  ] as const) {
    const skip = suffix === "tar.bz2" && needs("bzip2");
    test(`is pulled as a .${suffix} archive, checked, unpacked once, and speaks`, { skip }, async () => {
      const archive = pack(tar);
      const path = `/releases/my-voice-1.0.${suffix}`;
      await using server = await startFolderServer({ [path]: archive });
      server.cut = { afterBytes: Math.floor(archive.length / 2), times: 1 };
      const pulled = await pull(server, `${server.url}${path}`, { sha256: sha256(archive) });
      assert.equal(pulled.folder?.name, "my-voice-1.0");
      assert.equal(pulled.files[0]?.sha256, sha256(archive));
      assert.equal(server.fetched.length, 2, "the second time from where it broke off");
      assert.deepEqual(
        await everything(),
        [".sounding-origin.json", "notes/noise.bin", "tiny-voice.onnx", "tokens.txt"].map((name) =>
          join("my-voice-1.0", name),
        ),
      );
      assert.ok(await speaks("my-voice-1.0"));
      server.fetched.length = 0;
      assert.equal((await pull(server, `${server.url}${path}`)).files[0]?.alreadyThere, true);
      assert.deepEqual(server.fetched, []);
    });
  }

  test("is not installed if its archive has another checksum, or is damaged", async () => {
    const whole = gzipSync(tar);
    const archives = {
      "/whole.tar.gz": whole,
      "/short.tar.gz": whole.subarray(0, whole.length >> 1),
      "/page.tar.gz": Buffer.from("<!doctype html>"),
      "/page.tar": Buffer.from("<!doctype html>".repeat(100)),
      "/page.tar.bz2": Buffer.from("<!doctype html>"),
      "/nothing.tar": Buffer.alloc(1024),
      "/short.tar": tar.subarray(0, 20_000),
    };
    await using server = await startFolderServer(archives);
    await assert.rejects(pull(server, `${server.url}/whole.tar.gz`, { sha256: "0".repeat(64) }), /its SHA-256 is/);
    for (const path of Object.keys(archives).slice(1)) {
      await assert.rejects(pull(server, `${server.url}${path}`), { code: "upstream_failed" }, path);
      assert.deepEqual(await everything(), [], path);
    }
  });

  /** An archive with one entry that no tool would write. */
  function crafted(fields: {
    path: string;
    type: "File" | "SymbolicLink" | "Link" | "CharacterDevice";
    linkpath?: string;
  }): Buffer {
    const content = Buffer.from("evil");
    const header = Buffer.alloc(512);
    const size = fields.type === "File" ? content.length : 0;
    new Header({ mode: 0o644, size, mtime: new Date(0), ...fields }).encode(header);
    const body = size === 0 ? Buffer.alloc(0) : Buffer.concat([content, Buffer.alloc(512 - content.length)]);
    return Buffer.concat([header, body, Buffer.alloc(1024)]);
  }

  test("leaves nothing outside its folder, whatever its archive contains", async () => {
    await symlink("/etc/passwd", join(workspace, "link"));
    const archives: Record<string, Buffer> = {
      "/parent.tar": crafted({ path: "../evil.txt", type: "File" }),
      "/deep.tar": crafted({ path: "a/../../evil.txt", type: "File" }),
      "/absolute.tar": crafted({ path: join(dataDirectory, "evil.txt"), type: "File" }),
      "/windows.tar": crafted({ path: "..\\evil.txt", type: "File" }),
      "/symbolic.tar": crafted({ path: "link", type: "SymbolicLink", linkpath: "/etc" }),
      "/hard.tar": crafted({ path: "link", type: "Link", linkpath: "../../evil" }),
      "/device.tar": crafted({ path: "device", type: "CharacterDevice" }),
      "/link.tar": await archiveOf(["link"]),
    };
    await using server = await startFolderServer(archives);
    for (const path of Object.keys(archives)) {
      await assert.rejects(pull(server, `${server.url}${path}`), /The archive cannot be used: .* is a /, path);
      assert.deepEqual(await everything(), [], path);
      assert.deepEqual((await readdir(dataDirectory)).sort(), ["models"], path);
    }
  });

  test("resumes in a later pull where the earlier one was stopped", async () => {
    await using server = await startFolderServer({ "/voice.tar": tar });
    const stopping = new AbortController();
    const stopped = pull(server, `${server.url}/voice.tar`, {
      signal: stopping.signal,
      onProgress: (_name, { doneBytes }) => doneBytes > 50_000 && stopping.abort(),
    });
    await assert.rejects(stopped, { name: "AbortError" });
    server.fetched.length = 0;
    await pull(server, `${server.url}/voice.tar`);
    assert.match(server.fetched[0]!, /from \d{5,}$/);
    await removeModel(dataDirectory, "voice");
    assert.deepEqual(await everything(), []);
  });

  test("is removed without its neighbors", async () => {
    const { files, entries } = repository();
    await using server = await startFolderServer(files, [entries]);
    await pull(server, "owner/voice");
    for (const name of ["owner", "", ".", "..", "owner/voice/notes", "owner/voice/..", "../models"]) {
      await assert.rejects(removeModel(dataDirectory, name), { code: "not_found" }, name);
    }
    assert.equal((await everything()).length, 3);
  });
});
