/** Remote write requests that expand to much more than they have: labels by reference, and buckets that spans leave out. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compress } from "snappyjs";
import { varint } from "../fuzz/protobuf-messages.ts";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const number = (field: number, value: number | bigint): Buffer =>
  Buffer.concat([varint(BigInt(field * 8)), varint(BigInt(value))]);
const bytes = (field: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([varint(BigInt(field * 8 + 2)), varint(BigInt(content.length)), content]);
};
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));
function double(field: number, value: number): Buffer {
  const written = Buffer.alloc(9, field * 8 + 1);
  written.writeDoubleLE(value, 1);
  return written;
}
const repeat = (count: number, write: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => write(index)));
const sample = (ageMs: number): Buffer => Buffer.concat([double(1, 1), number(2, Date.now() - ageMs)]);

interface Multiplied {
  readonly series: number;
  readonly labels: number;
  readonly samples?: number;
  readonly exemplars?: number;
}

/** Version 2.0: every label of every series has the same 2,000 characters. */
function byReference({ exemplars = 0, labels, samples = 1, series }: Multiplied): Buffer {
  const symbols = ["", "__name__", "amplified", "v".repeat(2000)];
  const names = Array.from({ length: labels }, (_, index) => `l${index}`);
  const pairs = repeat(labels, (index) => Buffer.concat([varint(BigInt(4 + index)), varint(3n)]));
  const head = bytes(1, varint(1n), varint(2n), pairs);
  const exemplar = bytes(4, bytes(1, pairs), double(2, 1), number(3, Date.now()));
  return Buffer.concat([
    ...[...symbols, ...names].map((symbol) => text(4, symbol)),
    repeat(series, (index) =>
      bytes(
        5,
        head,
        repeat(samples, (each) => bytes(2, sample(each + index))),
        repeat(exemplars, () => exemplar),
      ),
    ),
  ]);
}

const span = (offset: number, length: number): Buffer => bytes(11, number(1, offset << 1), number(2, length));

/** Version 1.0: every histogram of a series has two buckets, and 16,381 between them. */
function sparseHistograms(count: number): Buffer {
  const counts = bytes(12, Buffer.from([2, 0]));
  const histogram = (index: number): Buffer =>
    bytes(
      4,
      number(1, 2),
      double(3, 1),
      number(4, 0),
      span(0, 1),
      span(16_381, 1),
      counts,
      number(15, Date.now() - index),
    );
  return bytes(1, bytes(1, text(1, "__name__"), text(2, "sparse")), repeat(count, histogram));
}

interface Answer {
  readonly status: number;
  readonly error: string;
}

async function write(message: Buffer, version: "1.0" | "2.0"): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}/prometheus/api/v1/write`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.placeholders["key"]}`,
      "content-type": `application/x-protobuf${version === "2.0" ? ";proto=io.prometheus.write.v2.Request" : ""}`,
      "content-encoding": "snappy",
    },
    body: Buffer.from(compress(message)),
  });
  const body = await response.text();
  return { status: response.status, error: body === "" ? "" : (JSON.parse(body) as { error: string }).error };
}

interface Case {
  readonly name: string;
  readonly message: () => Buffer;
  readonly version: "1.0" | "2.0";
  readonly expected: { readonly status: number; readonly error: RegExp };
}

const tooManyLabels = /1 sample of a series with more than 128 labels|60 samples of a series with more than 128 labels/;
const tooLarge = /more than 67108864 bytes with the labels of each sample and all buckets of its histograms/;

const cases: readonly Case[] = [
  {
    name: "a series of 5,000 labels by reference",
    message: () => byReference({ series: 1, labels: 5000 }),
    version: "2.0",
    expected: { status: 400, error: tooManyLabels },
  },
  {
    name: "60 series of 50,000 labels by reference",
    message: () => byReference({ series: 60, labels: 50_000 }),
    version: "2.0",
    expected: { status: 400, error: tooManyLabels },
  },
  {
    name: "120 long labels of 20,000 samples",
    message: () => byReference({ series: 1, labels: 120, samples: 20_000 }),
    version: "2.0",
    expected: { status: 413, error: tooLarge },
  },
  {
    name: "120 long labels of 20,000 exemplars",
    message: () => byReference({ series: 1, labels: 120, exemplars: 20_000 }),
    version: "2.0",
    expected: {
      status: 400,
      error: /^Partly stored\. Rejected: 19999 exemplars of series with more than 262144 characters\.$/,
    },
  },
  {
    name: "1,000 histograms with gaps",
    message: () => sparseHistograms(1000),
    version: "1.0",
    expected: { status: 413, error: tooLarge },
  },
  {
    name: "20,000 histograms with gaps",
    message: () => sparseHistograms(20_000),
    version: "1.0",
    expected: { status: 413, error: tooLarge },
  },
  {
    name: "400,000 samples of one series",
    message: () => byReference({ series: 1, labels: 1, samples: 400_000 }),
    version: "2.0",
    expected: { status: 413, error: tooLarge },
  },
];

describe("remote write", { timeout: 180_000 }, () => {
  for (const { expected, message, name, version } of cases) {
    test(name, async () => {
      const body = message();
      const report = await attack(server, async () => {
        const answer = await write(body, version);
        assert.equal(answer.status, expected.status, answer.error);
        assert.match(answer.error, expected.error);
      });
      assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
    });
  }
});
