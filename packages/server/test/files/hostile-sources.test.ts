/** Pulls from malicious servers, hubs and archives: nothing is written outside the models' directory, and everything is bounded. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { removeModel } from "../../src/model-files/remove-model.ts";
import { parseModelSource, partsOf, type FileSource } from "../../src/model-files/model-source.ts";
import { pullModel } from "../../src/model-files/pull-model.ts";
import { pathOf, type PullOptions } from "../../src/model-files/pull-options.ts";
import { mostEntries, mostUnpackedBytes } from "../../src/model-files/archive-guard.ts";
import { tarOf } from "./tar-file.ts";
import { trialModelBytes } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import { startFolderServer } from "./folder-server.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";

describe("pulling from a hostile source", () => {
  let folder: string;
  let dataDirectory: string;
  beforeEachTest(async (stack) => {
    folder = await mkdtemp(join(tmpdir(), "sounding-hostile-"));
    stack.defer(() => rm(folder, { recursive: true }));
    dataDirectory = join(folder, "data");
    await mkdir(join(dataDirectory, "models"), { recursive: true });
    for (const place of [folder, dataDirectory]) {
      await mkdir(join(place, "victim"));
      await writeFile(join(place, "victim", "kept.txt"), "kept");
    }
  });

  function pull(source: string, options: Partial<PullOptions> = {}) {
    return pullModel({ dataDirectory, source, signal: new AbortController().signal, retryPauseMs: 1, ...options });
  }

  async function assertUntouched(): Promise<void> {
    assert.deepEqual((await readdir(folder)).sort(), ["data", "victim"]);
    assert.deepEqual((await readdir(dataDirectory)).sort(), ["models", "victim"]);
    for (const place of [folder, dataDirectory]) {
      assert.equal(await readFile(join(place, "victim", "kept.txt"), "utf8"), "kept");
    }
  }

  test("deletes and replaces nothing outside, however the name in the URL is encoded", async () => {
    const archive = tarOf([{ path: "a.onnx", content: "evil" }]);
    const names = [
      "x%2F..%2F..%2Fvictim",
      "..%2Fvictim",
      "%2E%2E%2Fvictim",
      "x%2f..%2f..%2f..%2fvictim",
      "..%5Cvictim",
      "victim%00",
      "%2Fetc%2Fvictim",
      ".hidden",
      "x%252F..%2F..%2Fvictim",
      "n".repeat(240),
    ];
    const suffixes = [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".gguf", ".onnx"];
    const served: Record<string, Buffer> = {};
    for (const name of names)
      for (const suffix of suffixes)
        served[decodeURIComponent(`/${name}${suffix}`)] = suffix === ".gguf" ? trialModelBytes() : archive;
    await using server = await startFolderServer(served);
    for (const name of names) {
      for (const suffix of suffixes) {
        await assert.rejects(pull(`${server.url}/${name}${suffix}`), { code: "invalid_request" }, `${name}${suffix}`);
        const inRepository = `${server.url}/owner/repository/resolve/main/${name}${suffix}`;
        await assert.rejects(
          pull(inRepository, { hubEndpoint: server.url }),
          { code: "invalid_request" },
          inRepository,
        );
      }
    }
    assert.deepEqual(server.fetched, []);
    assert.deepEqual(await readdir(join(dataDirectory, "models")), []);
    await assertUntouched();
  });

  test("is refused with a URL that cannot be decoded, has a password, or names a revision that is a path elsewhere", () => {
    for (const source of [
      "https://example.org/%E0%A4%A.tar.gz",
      "https://user:secret@example.org/a.gguf",
      "owner/repository@../../api",
    ]) {
      assert.throws(() => parseModelSource(source), { code: "invalid_request" }, source);
    }
    const split = parseModelSource("owner/repository/x-00001-of-99999.gguf");
    assert.throws(() => partsOf(split as FileSource), { code: "invalid_request", message: /at most 1000/ });
    assert.equal(parseModelSource("owner/repository@refs/pr/1").kind, "repository");
  });

  test("has a second line of defense behind the check of names", () => {
    for (const name of ["../victim", "a/../../victim", "/etc/passwd", "", ".", "a/..", "a\0b"]) {
      assert.throws(() => pathOf(dataDirectory, name), { code: "invalid_request" }, name);
    }
    assert.equal(pathOf(dataDirectory, "owner/a.gguf"), join(dataDirectory, "models", "owner", "a.gguf"));
  });

  test("strips setuid, setgid and sticky bits, and write permissions of others", async () => {
    const archive = tarOf([
      { path: "voice/", type: "Directory", mode: 0o7777 },
      { path: "voice/a.onnx", content: "model", mode: 0o6777 },
      { path: "voice/run", content: "#!/bin/sh", mode: 0o4755 },
      { path: "voice/closed.txt", content: "x", mode: 0o000 },
    ]);
    await using server = await startFolderServer({ "/voice.tar": archive });
    await pull(`${server.url}/voice.tar`);
    const place = join(dataDirectory, "models", "voice");
    const modes = async (name: string): Promise<number> => (await stat(join(place, name))).mode & 0o7777;
    assert.equal((await modes(".")) & ~0o755, 0);
    for (const name of ["a.onnx", "run", "closed.txt"]) {
      assert.equal((await modes(name)) & ~0o644, 0, name);
      assert.equal((await modes(name)) & 0o400, 0o400, name);
    }
  });

  test("is refused if members collide, are too deep, too long, too many, or not files", async () => {
    const archives: Record<string, [Buffer, RegExp]> = {
      "/twice.tar": [
        tarOf([
          { path: "a.onnx", content: "1" },
          { path: "A.onnx", content: "2" },
        ]),
        /"A\.onnx" appears twice/,
      ],
      "/both.tar": [
        tarOf([
          { path: "a", content: "1" },
          { path: "a/b.onnx", content: "2" },
        ]),
        /"a" appears twice/,
      ],
      "/deep.tar": [tarOf([{ path: `${"d/".repeat(40)}a.onnx`, content: "1" }]), /too deep/],
      "/link.tar": [tarOf([{ path: "a", type: "SymbolicLink", linkpath: "../../victim" }]), /is a SymbolicLink/],
      "/hard.tar": [tarOf([{ path: "a", type: "Link", linkpath: "../../victim/kept.txt" }]), /is a Link/],
      "/block.tar": [tarOf([{ path: "a", type: "BlockDevice" }]), /is a BlockDevice/],
      "/pipe.tar": [tarOf([{ path: "a", type: "FIFO" }]), /is a FIFO/],
      "/many.tar.gz": [
        gzipSync(tarOf(Array.from({ length: mostEntries + 1 }, () => ({ path: "d/", type: "Directory" })))),
        /more than 10000 files/,
      ],
    };
    await using server = await startFolderServer(
      Object.fromEntries(Object.entries(archives).map(([path, [content]]) => [path, content])),
    );
    for (const [path, [, problem]] of Object.entries(archives)) {
      await assert.rejects(pull(`${server.url}${path}`), { code: "upstream_failed", message: problem }, path);
      assert.deepEqual(await readdir(join(dataDirectory, "models")), [], path);
    }
    await assertUntouched();
  });

  test("is refused if its archive expands without bound: by its declared size, its ratio, or data after its end", async () => {
    const zeros = gzipSync(Buffer.alloc(2 ** 21));
    await using server = await startFolderServer({
      "/huge.tar": tarOf([{ path: "a.onnx", size: mostUnpackedBytes + 1 }]),
      "/ratio.tar.gz": gzipSync(tarOf([{ path: "a.onnx", content: "\0".repeat(2 ** 21) }])),
      "/behind.tar.gz": Buffer.concat([gzipSync(tarOf([{ path: "a.onnx", content: "1" }])), zeros, zeros]),
    });
    await assert.rejects(pull(`${server.url}/huge.tar`), { message: /its files need more than \d+ bytes/ });
    await assert.rejects(pull(`${server.url}/ratio.tar.gz`), { code: "upstream_failed" });
    await assert.rejects(pull(`${server.url}/behind.tar.gz`), { code: "upstream_failed" });
    assert.deepEqual(await readdir(join(dataDirectory, "models")), []);
  });

  test("does not delete other models: an archive replaces only what was unpacked from one", async () => {
    const models = join(dataDirectory, "models");
    await mkdir(join(models, "owner", "voice"), { recursive: true });
    await writeFile(join(models, "owner", "voice", "a.onnx"), "theirs");
    await writeFile(join(models, "file"), "theirs");
    const archive = (content: string): Buffer =>
      tarOf([
        { path: ".sounding-origin.json", content: "{}" },
        { path: "a.onnx", content },
      ]);
    await using server = await startFolderServer({
      "/owner.tar": archive("evil"),
      "/file.tar": archive("evil"),
      "/1/mine.tar": archive("first"),
      "/2/mine.tar": archive("second"),
    });
    for (const name of ["owner", "file"])
      await assert.rejects(pull(`${server.url}/${name}.tar`), { code: "conflict" }, name);
    assert.equal(await readFile(join(models, "owner", "voice", "a.onnx"), "utf8"), "theirs");
    await pull(`${server.url}/1/mine.tar`);
    await pull(`${server.url}/2/mine.tar`);
    assert.equal(await readFile(join(models, "mine", "a.onnx"), "utf8"), "second");
  });

  test("is refused if a hub lists a file twice, a file as a folder, or endless pages", async () => {
    const file = (path: string): object => ({ type: "file", path, size: 1 });
    for (const [listing, problem] of [
      [[file("a.onnx"), file("A.ONNX")], /appears twice/],
      [[file("a"), file("a/b.onnx")], /appears twice/],
      [[file("x/../../../victim/a.onnx")], /is not the path of a file/],
      [[file("a\0.onnx")], /is not the path of a file/],
      [[file("/etc/a.onnx")], /is not the path of a file/],
      [[file(`${"d/".repeat(40)}a.onnx`)], /is not the path of a file/],
      [[{ type: "directory", path: "x".repeat(17 * 2 ** 20) }], /sent more than 16777216 bytes/],
      [[null], /contains no model files/],
    ] as const) {
      await using server = await startFolderServer({}, [[...listing] as object[]]);
      await assert.rejects(pull("owner/voice", { hubEndpoint: server.url }), problem);
      assert.deepEqual(server.fetched, []);
    }
    await assertUntouched();
  });

  /** Answers like a server behind HTTPS, without TLS. */
  function redirecting(context: TestContext, location: string) {
    return context.mock.method(globalThis, "fetch", (..._call: unknown[]) =>
      Promise.resolve(new Response(null, { status: 302, headers: { location } })),
    );
  }

  for (const [location, problem] of [
    ["http://example.org/a.gguf", /redirects from HTTPS to http:\/\/example\.org, which is not secure/],
    ["file:///etc/passwd", /redirects to a file: URL/],
    ["data:application/octet-stream,GGUF", /redirects to a data: URL/],
    ["https://user:secret@example.org/a.gguf", /redirects to a URL with a user name or password/],
    ["https://example.com/a.gguf", /redirects more than 10 times/],
  ] as const) {
    test(`fetches no model through a redirect to ${location}`, async (context) => {
      const fetched = redirecting(context, location);
      await assert.rejects(pull("https://example.com/a.gguf", { hubToken: "hf_secret" }), {
        code: "upstream_failed",
        message: problem,
      });
      assert.ok(fetched.mock.callCount() <= 22);
      await assert.rejects(stat(join(dataDirectory, "models", "a.gguf")), { code: "ENOENT" });
      // The hub is another host, so its token is not sent.
      assert.ok(!JSON.stringify(fetched.mock.calls.map((call) => call.arguments)).includes("hf_secret"));
    });
  }

  test("stops a server that sends more than it announced", async () => {
    const server = createServer((request, response) => {
      if (request.method === "HEAD") response.writeHead(200, { "content-length": "1000" }).end();
      else response.writeHead(200, { "transfer-encoding": "chunked" }).end(trialModelBytes());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      await assert.rejects(pull(`http://127.0.0.1:${port}/a.gguf`), { message: /declared 1000 bytes but sent more/ });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("cannot be removed by a name that leads elsewhere", async () => {
    await writeFile(join(dataDirectory, "victim", "a.onnx"), "x");
    for (const name of ["../victim", "x/../../victim", "..\\victim", "victim\0", "/etc", "a//b", `${folder}/victim`]) {
      await assert.rejects(removeModel(dataDirectory, name), { code: "not_found" }, name);
    }
    await rm(join(dataDirectory, "victim", "a.onnx"));
    await assertUntouched();
  });
});
