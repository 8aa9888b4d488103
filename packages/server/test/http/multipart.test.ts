/** Parses multipart forms with any content and any chunking. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../../src/errors.ts";
import { MultipartDecoder, type PartHeaders } from "../../src/http/multipart.ts";
import { Spool } from "../../src/http/spool.ts";
import { cut } from "../audio/signals.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const boundary = "--x-y";

interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly bytes: Uint8Array;
}

function encode(parts: readonly Part[]): Buffer {
  const quoted = (text: string): string => `"${text.replaceAll('"', "%22")}"`;
  const pieces = parts.flatMap(({ name, fileName, bytes }) => {
    const file = fileName === undefined ? "" : `; filename=${quoted(fileName)}`;
    return [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name=${quoted(name)}${file}\r\n\r\n`),
      bytes,
      Buffer.from("\r\n"),
    ];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

function decode(pieces: readonly Buffer[]): Part[] {
  const decoder = new MultipartDecoder(boundary);
  const parts: Part[] = [];
  let open: { head: PartHeaders; bytes: Buffer[] } | undefined;
  for (const piece of pieces) {
    for (const item of decoder.push(piece)) {
      if (item.kind === "headers") open = { head: item.headers, bytes: [] };
      else if (item.kind === "bytes") open!.bytes.push(item.bytes);
      else {
        const { name, fileName } = open!.head;
        parts.push({ name, fileName, bytes: Buffer.concat(open!.bytes) });
      }
    }
  }
  decoder.end();
  return parts;
}

/** Bytes in which starts of boundaries are likely. */
const nearlyBoundaries = fc
  .array(fc.constantFrom("\r", "\n", "\r\n", "-", "--", "\r\n--", `\r\n--${boundary.slice(0, -1)}`, "x", "\0"), {
    maxLength: 20,
  })
  .map((texts) => Buffer.from(texts.join("")));
const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((text) => !/["\\\r\n%]/.test(text));
const arbitraryPart = fc.record({
  name: word,
  fileName: fc.option(word, { nil: undefined }),
  bytes: fc.oneof(nearlyBoundaries, fc.uint8Array({ maxLength: 200 })),
});
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

describe("a form", () => {
  test("has the same parts however it is split", () => {
    const form = fc.record({ parts: fc.array(arbitraryPart, { maxLength: 5 }), pieces: lengths });
    const property = fc.property(form, ({ parts, pieces }) => {
      // RFC 2046 forbids parts to contain their boundary.
      fc.pre(parts.every(({ bytes }) => !Buffer.from(bytes).includes(`\r\n--${boundary}`)));
      const decoded = decode(cut(encode(parts), pieces));
      assert.deepEqual(
        decoded.map(({ bytes, ...head }) => ({ ...head, bytes: [...bytes] })),
        parts.map(({ bytes, ...head }) => ({ ...head, bytes: [...bytes] })),
      );
    });
    fc.assert(property, { numRuns: propertyRuns(500) });
  });

  test("passes every byte on immediately, except a possible start of a boundary", () => {
    const decoder = new MultipartDecoder(boundary);
    const pass = (text: string): string =>
      [...decoder.push(Buffer.from(text))].map((item) => (item.kind === "bytes" ? item.bytes.toString() : "")).join("");
    pass(`--${boundary}\r\nContent-Disposition: form-data; name="file"\r\n\r\n`);
    assert.deepEqual(["abc", "d\r", "e\r\n-", "-x\r\n"].map(pass), ["abc", "d", "\re", "\r\n--x"]);
  });

  test("of any bytes is parsed or refused, never an internal error", () => {
    const bodies = fc.record({
      parts: fc.array(arbitraryPart, { maxLength: 3 }),
      at: fc.nat(),
      with: fc.uint8Array({ maxLength: 8 }),
      pieces: lengths,
    });
    const property = fc.property(bodies, ({ parts, at, with: bytes, pieces }) => {
      const body = encode(parts);
      const position = at % body.length;
      const spoilt = Buffer.concat([body.subarray(0, position), bytes, body.subarray(position + bytes.length)]);
      try {
        decode(cut(spoilt, pieces));
      } catch (error) {
        assert.ok(error instanceof AppError && error.code === "invalid_request", String(error));
      }
    });
    fc.assert(property, { numRuns: propertyRuns(1_000) });
  });
});

describe("a spool", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sounding-spool-"));
  after(() => rm(directory, { recursive: true }));

  async function gather(spool: Spool): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const bytes of spool.read()) pieces.push(Buffer.from(bytes));
    return Buffer.concat(pieces);
  }

  for (const length of [0, 1, 262_144, 262_145, 1_000_000]) {
    test(`delivers ${length} bytes to readers that start before, during and after writing`, async () => {
      const whole = Buffer.from(Uint8Array.from({ length }, (_, index) => index % 251));
      const spool = new Spool(directory);
      const early = gather(spool);
      let meanwhile: Promise<Buffer> | undefined;
      for (const piece of cut(whole, [50_000, 1, 70_000])) {
        await spool.write(piece);
        meanwhile ??= gather(spool);
      }
      spool.end();
      for (const read of [await early, await (meanwhile ?? early), await gather(spool)]) assert.ok(read.equals(whole));
      await spool.close();
      await assert.rejects(gather(spool));
    });
  }

  test("that fails delivers what was written, then the failure", async () => {
    const spool = new Spool(directory);
    await spool.write(Buffer.from("abc"));
    spool.fail(new Error("broken off"));
    const reading = spool.read();
    assert.equal(Buffer.from((await reading.next()).value!).toString(), "abc");
    await assert.rejects(reading.next(), /broken off/);
    await spool.close();
  });

  test("reports that there is no room for it", async () => {
    const spool = new Spool(join(directory, "missing"));
    await assert.rejects(spool.write(Buffer.alloc(300_000)), { code: "overloaded" });
    await spool.close();
  });
});
