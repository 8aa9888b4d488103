/** Backups in S3-compatible storage: complete copies, faults of the network and of the storage, and what failed backups leave. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { after, afterEach, describe, test } from "node:test";
import { run } from "../packages/cli/src/run.ts";
import type { Outcome } from "../packages/cli/test/run-sounding.ts";
import { remotePassword, startRemoteServer } from "../packages/server/test/store/remote-server.ts";
import type { BackupStorage } from "../packages/server/src/maintenance/backup-storage.ts";
import { openBackupStorage } from "../packages/server/src/maintenance/open-backup-storage.ts";
import { parseS3Location } from "../packages/server/src/object-storage/s3-location.ts";
import { parseXml } from "../packages/server/src/object-storage/xml.ts";
import { administer, allAnswers, allObjects, sendAllTelemetry, serveInstallation } from "./support/installation.ts";
import { isSignedWith } from "./support/s3-signature.ts";
import { credentials, sendError, startS3Server, type Exchange, type S3Server } from "./support/s3-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";
import { childEnvironment } from "./support/child-environment.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-backup-s3-"));
after(() => rm(folder, { recursive: true, force: true }));
const configFile = join(folder, "sounding.yaml");
await writeFile(configFile, "server: { log_level: warn }\n");

test("the check of signatures knows the example of the specification", () => {
  const headers = {
    host: "examplebucket.s3.amazonaws.com",
    range: "bytes=0-9",
    "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "x-amz-date": "20130524T000000Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  };
  const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  assert.ok(isSignedWith({ method: "GET", target: "/test.txt", headers }, secret));
  assert.ok(!isSignedWith({ method: "GET", target: "/test2.txt", headers }, secret));
  assert.ok(!isSignedWith({ method: "GET", target: "/test.txt", headers }, `${secret}x`));
});

test("locations that no backup can have are refused", () => {
  assert.deepEqual(parseS3Location("s3://bucket/a/b/"), { bucket: "bucket", prefix: "a/b/" });
  assert.deepEqual(parseS3Location("s3://bucket"), { bucket: "bucket", prefix: "" });
  for (const wrong of [
    "s3://",
    "s3://b",
    "s3:///x",
    "s3://bucket/a/../b",
    "s3://bucket//x",
    "s3://bu cket/x",
    `s3://bucket/${"x".repeat(900)}`,
  ])
    assert.throws(() => parseS3Location(wrong), /is not a location in S3/, wrong);
});

test("XML that is damaged or hostile is an error", () => {
  assert.equal(parseXml('<?xml version="1.0"?>\n<a x="1"><b>&lt;&#65;&amp;</b></a>').children[0]!.text, "<A&");
  for (const wrong of [
    "",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    "<a".repeat(40),
    "<a>".repeat(40),
  ])
    assert.throws(() => parseXml(wrong), SyntaxError, wrong);
});

describe("backups in S3", { skip: needs("python"), timeout: 300_000 }, () => {
  let s3: S3Server;
  let number = 0;
  const newLocation = (): string => `s3://backups/prefix (${(number += 1)})+ü`;
  const prefixOf = (location: string): string => location.replace("s3://backups/", "");
  const keysUnder = async (location: string): Promise<string[]> =>
    (await s3.keys("backups")).filter((key) => key.startsWith(`${prefixOf(location)}/`));

  beforeTests(async (stack) => {
    s3 = stack.use(await startS3Server());
    await s3.createBucket("backups");
  });
  afterEach(() => {
    s3.fault = undefined;
  });

  describe("by the commands", () => {
    const environment = (name: string): Record<string, string> => ({
      ...childEnvironment,
      SOUNDING_INSTALL: "false",
      SOUNDING_CONFIG: configFile,
      SOUNDING_DATA_DIR: join(folder, name),
      AWS_ACCESS_KEY_ID: credentials.id,
      AWS_SECRET_ACCESS_KEY: credentials.secret,
      AWS_SESSION_TOKEN: credentials.token,
      AWS_REGION: "eu-central-1",
      AWS_ENDPOINT_URL_S3: s3.endpoint,
    });
    const sounding = async (
      words: readonly string[],
      env: Record<string, string>,
      {
        signal = new AbortController().signal,
        onError = () => {},
      }: { signal?: AbortSignal; onError?: () => void } = {},
    ): Promise<Outcome> => {
      const texts = { stdout: "", stderr: "" };
      const collect = (name: "stdout" | "stderr"): Writable =>
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            texts[name] += chunk.toString("utf8");
            if (name === "stderr") onError();
            done();
          },
        });
      const isTTY = { stdin: false, stdout: false, stderr: false };
      const streams = { stdin: Readable.from([]), stdout: collect("stdout"), stderr: collect("stderr"), isTTY };
      const code = await run(words, { ...streams, env, signal, abortedExitCode: () => 130 });
      return { code, ...texts };
    };
    const succeeds = async (words: readonly string[], env: Record<string, string>): Promise<string> => {
      const { code, stderr, stdout } = await sounding(words, env);
      assert.equal(code, 0, `${words.join(" ")}: ${stderr}`);
      return stdout;
    };

    test("answer every query as before, for an installation and for one organization", async () => {
      const whole = newLocation();
      const one = newLocation();
      let answers: Map<string, unknown>;
      let acmeAnswers: Map<string, unknown>;
      let objects: unknown;
      let keys: readonly [key: string, acme: string, operator: string];
      {
        await using server = await serveInstallation(environment("first"), configFile);
        const { key, operatorKey = "" } = server.firstStart!;
        const { id } = await administer<{ id: string }>(server.url, operatorKey, "/organizations", { name: "acme" });
        const body = { organization_id: id, name: "key" };
        const { secret } = await administer<{ secret: string }>(server.url, operatorKey, "/keys", body);
        keys = [key, secret, operatorKey];
        await sendAllTelemetry(server.url, key, 1);
        await sendAllTelemetry(server.url, secret, 2);
        answers = await allAnswers(server.url, key);
        acmeAnswers = await allAnswers(server.url, secret);
        objects = await allObjects(server.url, operatorKey);
        const result = JSON.parse(await succeeds(["backup", whole, "--json"], environment("first"))) as Record<
          string,
          unknown
        >;
        assert.equal(result["location"], whole);
        assert.equal(result["folder"], null);
      }
      // Without the server, and with the endpoint as an option.
      const { AWS_ENDPOINT_URL_S3: _none, ...env } = environment("first");
      assert.match(
        await succeeds(["backup", one, "-o", "acme", "--s3-endpoint", s3.endpoint], env),
        /to s3:\/\/backups\/prefix/,
      );
      const found = await keysUnder(whole);
      assert.ok(found.includes(`${prefixOf(whole)}/manifest.json`));
      assert.ok(!found.some((key) => key.endsWith(".incomplete")));
      assert.match(
        await succeeds(["restore", whole, "--check"], environment("none")),
        /is a complete backup of a whole installation/,
      );

      const compare = async (url: string, key: string, expected: Map<string, unknown>): Promise<void> => {
        const now = await allAnswers(url, key);
        for (const [name, answer] of expected) assert.deepEqual(now.get(name), answer, name);
      };
      await succeeds(["restore", whole], environment("second"));
      {
        await using server = await serveInstallation(environment("second"), configFile);
        await compare(server.url, keys[0], answers);
        await compare(server.url, keys[1], acmeAnswers);
        assert.deepEqual(await allObjects(server.url, keys[2]), objects);
      }
      await using clickhouse = await startRemoteServer();
      const remote = {
        ...environment("remote"),
        SOUNDING_CLICKHOUSE_URL: clickhouse.url,
        SOUNDING_CLICKHOUSE_PASSWORD: remotePassword,
      };
      await succeeds(["restore", one], remote);
      const again = newLocation();
      await succeeds(["backup", again], remote);
      assert.deepEqual(
        (await readdir(join(folder, "remote"))).filter((name) => name.startsWith("transfer-")),
        [],
      );
      await using server = await serveInstallation(environment("third"), configFile);
      await succeeds(["restore", again, "-o", "acme"], environment("third"));
      await compare(server.url, keys[1], acmeAnswers);
      assert.deepEqual(await readdir(join(folder, "third/telemetry/spool")), []);
    });

    test("that are cancelled leave no objects and no multipart uploads", async () => {
      const location = newLocation();
      const stop = new AbortController();
      let puts = 0;
      s3.fault = ({ method }) => {
        if (method === "PUT" && (puts += 1) === 4) stop.abort();
        return false;
      };
      const { code } = await sounding(["backup", location], environment("first"), { signal: stop.signal });
      assert.equal(code, 130);
      assert.deepEqual(await keysUnder(location), []);
      assert.equal(await s3.uploads("backups"), 0);
    });

    test("fail with wrong credentials, and no message has the secret", async () => {
      const env: Record<string, string> = { ...environment("first"), AWS_SECRET_ACCESS_KEY: "another-secret" };
      const { code, stderr } = await sounding(["backup", newLocation()], env);
      assert.equal(code, 4);
      assert.match(
        stderr,
        /The bucket backups cannot be listed: HTTP status 403, SignatureDoesNotMatch: .* Check AWS_SECRET_ACCESS_KEY/,
      );
      assert.doesNotMatch(stderr, /another-secret|token-of-the-test/);
      const { AWS_ACCESS_KEY_ID: _none, ...without } = env;
      assert.match(
        (await sounding(["backup", newLocation()], without)).stderr,
        /needs the environment variable AWS_ACCESS_KEY_ID/,
      );
      const wrong = await sounding(["restore", newLocation(), "--s3-endpoint", "http://user:hidden@127.0.0.1"], env);
      assert.match(wrong.stderr, /must be an http or https URL without user name/);
      assert.doesNotMatch(wrong.stderr, /hidden/);
    });

    test("are refused where objects are, and restored only from backups", async () => {
      const location = newLocation();
      await s3.put(`/backups/${encodeURIComponent(`${prefixOf(location)}/other`)}`, "kept");
      const { code, stderr } = await sounding(["backup", location], environment("first"));
      assert.equal(code, 1);
      assert.match(stderr, /is not empty: it has the object .*other/);
      assert.equal((await keysUnder(location)).length, 1);
      const restored = await sounding(["restore", location], environment("fourth"));
      assert.match(restored.stderr, /has no manifest\.json: it is not a backup/);
      const bucket = await sounding(["restore", "s3://nobucket/x"], environment("fourth"));
      assert.equal(bucket.code, 5);
      assert.match(bucket.stderr, /of the bucket nobucket cannot be read: HTTP status 404, NoSuchBucket/);
      assert.ok(!existsSync(join(folder, "fourth")));
    });
  });

  describe("meet faults", () => {
    const signal = AbortSignal.timeout(280_000);
    const partBytes = 5 * 1_048_576;
    const path = "telemetry/spans/2026-01-01.native.zst";
    const content = randomBytes(2 * partBytes + 12_345);
    const source = join(folder, "source");
    beforeTests(() => writeFile(source, content));

    const open = (location: string, idleTimeoutMs = 30_000, isProxied = false): BackupStorage =>
      openBackupStorage({
        location,
        partBytes,
        timing: { retryPauseMs: 5, idleTimeoutMs },
        s3: () => ({
          region: "eu-central-1",
          endpoint: isProxied ? "http://storage.test" : s3.endpoint,
          accessKeyId: credentials.id,
          secretAccessKey: credentials.secret,
          sessionToken: credentials.token,
          proxies: isProxied ? { http: s3.endpoint, https: undefined, except: undefined } : undefined,
        }),
      });
    /** Fails the first of the requests that match. */
    const onceFor = (matches: (exchange: Exchange) => boolean, fail: NonNullable<S3Server["fault"]>): void => {
      let done = false;
      s3.fault = (exchange, response, forward) => {
        if (done || !matches(exchange)) return false;
        done = true;
        return fail(exchange, response, forward);
      };
    };
    const isPart = ({ method, target }: Exchange): boolean => method === "PUT" && /partNumber=2/.test(target);
    const isRead = ({ method, target }: Exchange): boolean => method === "GET" && target.endsWith(".native.zst");
    const roundTrip = async (storage: BackupStorage): Promise<void> => {
      await storage.begin(signal);
      const stored = await storage.add(path, source, signal);
      const target = `${source}-${randomBytes(4).toString("hex")}`;
      await storage.verify(path, stored, { target, signal });
      assert.ok((await readFile(target)).equals(content));
      assert.equal(await s3.uploads("backups"), 0);
    };

    const passing: Readonly<
      Record<string, readonly [(exchange: Exchange) => boolean, NonNullable<S3Server["fault"]>]>
    > = {
      "503 SlowDown with Retry-After": [
        isPart,
        (_, response) => sendError(response, 503, "SlowDown", { "retry-after": "0" }),
      ],
      "429": [isPart, (_, response) => sendError(response, 429, "TooManyRequests")],
      "500 while an upload is created": [
        ({ target }) => target.endsWith("?uploads="),
        (_, response) => sendError(response, 500, "InternalError"),
      ],
      "a connection that is cut during an upload": [isPart, (_, response) => Boolean(response.destroy())],
      "a body that was damaged on the way": [
        isPart,
        (_, response) => sendError(response, 400, "XAmzContentSHA256Mismatch"),
      ],
      "an error in the answer to the completion, with status 200": [
        ({ method, target }) => method === "POST" && target.includes("uploadId="),
        (_, response) => sendError(response, 200, "InternalError"),
      ],
      "a lost answer to the completion": [
        ({ method, target }) => method === "POST" && target.includes("uploadId="),
        async (_, response, forward) => {
          await forward();
          return Boolean(response.destroy());
        },
      ],
      "a lost answer to the mark of the backup": [
        ({ target }) => target.endsWith("/.incomplete"),
        async (_, response, forward) => {
          await forward();
          return Boolean(response.destroy());
        },
      ],
      "a server without conditional writes": [
        ({ headers }) => headers["if-none-match"] !== undefined,
        (_, response) => sendError(response, 501, "NotImplemented"),
      ],
    };
    for (const [title, [matches, fail]] of Object.entries(passing)) {
      test(`and repeat: ${title}`, async () => {
        let failed = 0;
        onceFor(matches, (...words) => {
          failed += 1;
          return fail(...words);
        });
        await using storage = open(newLocation());
        await roundTrip(storage);
        assert.equal(failed, 1);
      });
    }

    test("and go through a proxy", async () => {
      await using storage = open(newLocation(), 30_000, true);
      await roundTrip(storage);
      assert.equal(s3.exchanges.at(-1)!.headers.host, "storage.test");
    });

    test("and continue a download that was cut, at its place", async () => {
      onceFor(isRead, async (_, response, forward) => {
        const { body, headers } = await forward();
        response.writeHead(200, { "content-length": body.length, etag: headers.etag });
        response.write(body.subarray(0, 3_000_000));
        await new Promise((resolve) => response.write(body.subarray(3_000_000, 3_000_010), resolve));
        return Boolean(response.destroy());
      });
      const before = s3.exchanges.length;
      await using storage = open(newLocation());
      await roundTrip(storage);
      const [, again] = s3.exchanges.slice(before).filter(isRead);
      assert.match(again!.headers.range ?? "", /^bytes=\d+-$/);
      assert.notEqual(again!.headers["if-match"], undefined);
    });

    test("and give up a connection that is silent, and try again", async () => {
      onceFor(isRead, (_, response) => {
        response.writeHead(200, { "content-length": 100 }).write("x");
        return true;
      });
      await using storage = open(newLocation(), 1000);
      await storage.begin(signal);
      const stored = await storage.add(path, source, signal);
      // The first byte of the silent answer is not one of the object, which the checksum finds.
      await assert.rejects(
        storage.verify(path, stored, { signal }),
        /The backup is damaged: telemetry\/spans.*checksum differs/,
      );
      onceFor(isRead, () => true);
      await storage.verify(path, stored, { signal });
    });

    test("and find content that changed in the storage", async () => {
      const location = newLocation();
      await using storage = open(location);
      await storage.begin(signal);
      const stored = await storage.add(path, source, signal);
      const at = `/backups/${`${prefixOf(location)}/${path}`.split("/").map(encodeURIComponent).join("/")}`;
      const changed = Buffer.from(content);
      changed[1000]! ^= 1;
      await s3.put(at, changed);
      await storage.verifyAll([[path, stored]], signal);
      await assert.rejects(storage.verify(path, stored, { signal }), /damaged: telemetry\/spans.*checksum differs/);
      await s3.put(at, content.subarray(1));
      await assert.rejects(storage.verifyAll([[path, stored]], signal), /damaged: telemetry\/spans.* bytes instead of/);
      await assert.rejects(storage.verify(path, stored, { signal }), /has .* bytes instead of/);
      await s3.put(at, Buffer.concat([content, Buffer.from("more")]));
      await assert.rejects(storage.verify(path, stored, { signal }), /more than the expected/);
      await assert.rejects(
        storage.verifyAll([["control.jsonl", stored]], signal),
        /damaged: control\.jsonl: it does not exist/,
      );
    });

    test("and name the region of a bucket that is elsewhere", async () => {
      s3.fault = (_, response) => sendError(response, 301, "PermanentRedirect", { "x-amz-bucket-region": "us-west-2" });
      await using storage = open(newLocation());
      await assert.rejects(storage.begin(signal), /is in the region us-west-2, .* Set AWS_REGION=us-west-2\./);
    });

    test("and end when they do not pass, without objects and parts", async () => {
      const location = newLocation();
      await using storage = open(location);
      await storage.begin(signal);
      await storage.write("control.jsonl", "rows", signal);
      s3.fault = (exchange, response) => isPart(exchange) && sendError(response, 503, "SlowDown");
      await assert.rejects(
        storage.add(path, source, signal),
        /The object .* of the bucket backups cannot be written: HTTP status 503, SlowDown: .* \(after 7 attempts\)/,
      );
      assert.equal(await s3.uploads("backups"), 0);
      assert.equal(await storage.discard(), undefined);
      assert.deepEqual(await keysUnder(location), []);
    });

    test("and say what they could not delete", async () => {
      const location = newLocation();
      await using storage = open(location);
      await storage.begin(signal);
      s3.fault = ({ method }, response) => method === "DELETE" && sendError(response, 403, "AccessDenied");
      assert.match((await storage.discard())!, /^1 objects could not be deleted from s3:.*\.incomplete/);
    });

    test("and end at once when they are cancelled, without parts", async () => {
      const location = newLocation();
      const stop = new AbortController();
      await using storage = open(location);
      await storage.begin(signal);
      s3.fault = (exchange) => {
        if (isPart(exchange)) stop.abort(new Error("cancelled by the test"));
        return isPart(exchange);
      };
      await assert.rejects(storage.add(path, source, stop.signal), /cancelled by the test/);
      s3.fault = undefined;
      await storage.discard();
      assert.equal(await s3.uploads("backups"), 0);
      assert.deepEqual(await keysUnder(location), []);
    });

    test("and of two backups to one prefix, one is refused and deletes nothing of the other", async () => {
      const location = newLocation();
      await using first = open(location);
      await using second = open(location);
      await first.begin(signal);
      // The second one listed the objects before the first one began.
      s3.fault = ({ target }, response) => {
        if (!target.includes("list-type=2")) return false;
        response.end("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
        return true;
      };
      await assert.rejects(second.begin(signal), /is not empty: it has the object .*\.incomplete/);
      s3.fault = undefined;
      await second.discard();
      assert.equal((await keysUnder(location)).length, 1);
    });

    test("and list more objects than a page has", async () => {
      const location = newLocation();
      await using storage = open(location);
      const files = Array.from({ length: 7 }, (_, index) => `telemetry/spans/2026-01-0${index + 1}.native.zst`);
      await storage.begin(signal);
      const stored = [];
      for (const file of files) stored.push([file, await storage.write(file, file, signal)] as const);
      let pages = 0;
      s3.fault = async (exchange, response, _forward) => {
        if (!exchange.target.includes("list-type=2") || exchange.target.includes("max-keys")) return false;
        pages += 1;
        const token = /continuation-token=([^&]+)/.exec(exchange.target)?.[1];
        const search = new URLSearchParams({ "list-type": "2", "max-keys": "3", prefix: `${prefixOf(location)}/` });
        if (token !== undefined) search.set("continuation-token", decodeURIComponent(token));
        response.end(await s3.get(`/backups?${search.toString()}`));
        return true;
      };
      await storage.verifyAll(stored, signal);
      assert.equal(pages, 3);
    });
  });
});
