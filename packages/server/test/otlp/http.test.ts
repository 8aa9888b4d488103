/** OTLP/HTTP from outside: content types, compression, limits, partial success, and errors in the protocol's own form. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { buffer } from "node:stream/consumers";
import { constants, createZstdCompress, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { AppError } from "../../src/errors.ts";
import { testKey } from "../support/test-key.ts";
import { logRequest, metricRequest, spanRequest } from "./example-requests.ts";
import { decode, encode } from "./oracle.ts";
import { startOtlp } from "./otlp-server.ts";
import { toOtlpJson } from "./sent-and-stored.ts";

const protobuf = "application/x-protobuf";
const json = "application/json";

const requests = {
  traces: { type: "ExportTraceServiceRequest", make: () => spanRequest(), table: "spans" },
  logs: { type: "ExportLogsServiceRequest", make: () => logRequest(), table: "logs" },
  metrics: { type: "ExportMetricsServiceRequest", make: () => metricRequest(), table: "points" },
} as const;

async function body(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

/** A body as senders compress it. */
const compressors = {
  gzip: (bytes: Uint8Array) => gzipSync(bytes),
  deflate: (bytes: Uint8Array) => deflateSync(bytes),
  zstd: (bytes: Uint8Array) => zstdCompressSync(bytes),
};
const codings = ["identity", "gzip", "deflate", "zstd"] as const;

for (const [signal, { type, make, table }] of Object.entries(requests)) {
  describe(`POST /v1/${signal}`, () => {
    for (const coding of codings) {
      const headers: Record<string, string> = coding === "identity" ? {} : { "content-encoding": coding };
      const pack = (bytes: Uint8Array) => (coding === "identity" ? bytes : compressors[coding](bytes));
      const how = coding === "identity" ? "plain" : `with ${coding}`;

      test(`accepts protobuf ${how} and answers with no bytes`, async () => {
        await using server = await startOtlp();
        const response = await server.post(`/v1/${signal}`, pack(encode(type, make())), headers);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("content-type"), protobuf);
        assert.equal((await body(response)).length, 0);
        assert.equal(server.store.rows(table).length, 1);
      });

      test(`accepts JSON ${how} and answers with an empty object`, async () => {
        await using server = await startOtlp();
        const text = Buffer.from(JSON.stringify(toOtlpJson(make())));
        const response = await server.post(`/v1/${signal}`, pack(text), {
          ...headers,
          "content-type": `${json}; charset=utf-8`,
        });
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("content-type"), json);
        assert.equal(await response.text(), "{}");
        assert.equal(server.store.rows(table).length, 1);
      });
    }
  });
}

describe("a partial success", () => {
  test("counts what was rejected and explains why, in protobuf", async () => {
    await using server = await startOtlp();
    const response = await server.post("/v1/traces", encode("ExportTraceServiceRequest", spanRequest({ traceId: "" })));
    assert.equal(response.status, 200);
    const { partialSuccess } = decode("ExportResponse", await body(response)) as {
      partialSuccess: Record<string, string>;
    };
    assert.equal(partialSuccess["rejected"], "1");
    assert.match(partialSuccess["errorMessage"]!, /without a valid trace ID/);
  });

  const cases = [
    ["traces", "rejectedSpans", spanRequest({ spanId: "" })],
    ["logs", "rejectedLogRecords", logRequest({ timeUnixNano: "1" })],
    ["metrics", "rejectedDataPoints", metricRequest({ asInt: undefined })],
  ] as const;
  for (const [signal, field, request] of cases) {
    test(`names ${field} in JSON`, async () => {
      await using server = await startOtlp();
      const text = JSON.stringify(toOtlpJson(request));
      const response = await server.post(`/v1/${signal}`, text, { "content-type": json });
      assert.equal(response.status, 200);
      const { partialSuccess } = (await response.json()) as { partialSuccess: Record<string, string> };
      assert.equal(partialSuccess[field], "1");
      assert.ok(partialSuccess["errorMessage"]);
    });
  }
});

interface Status {
  readonly code: number;
  readonly message: string;
  readonly details?: readonly Record<string, unknown>[];
}

/** Sends the function's output in both encodings, and returns the two Status bodies. */
async function statuses(response: Response): Promise<Status> {
  const type = response.headers.get("content-type");
  if (type === json) return (await response.json()) as Status;
  assert.equal(type, protobuf);
  return decode("RpcStatus", await body(response)) as unknown as Status;
}

describe("an error", () => {
  for (const contentType of [protobuf, json]) {
    const headers = { "content-type": contentType };

    test(`of malformed bytes is a 400 with the violation, in ${contentType}`, async () => {
      await using server = await startOtlp();
      const response = await server.post("/v1/traces", Buffer.from([0x0a, 0x05, 0x01]), headers);
      assert.equal(response.status, 400);
      const status = await statuses(response);
      assert.equal(status.code, 3);
      const [detail] = status.details ?? [];
      if (contentType === json) {
        assert.equal(detail?.["@type"], "type.googleapis.com/google.rpc.BadRequest");
        const violations = detail?.["fieldViolations"] as object[];
        assert.equal(violations.length, 1);
      } else {
        assert.equal(detail?.["typeUrl"], "type.googleapis.com/google.rpc.BadRequest");
        const value = decode("BadRequest", Buffer.from(detail?.["value"] as string, "base64"));
        assert.deepEqual(value["fieldViolations"], [
          { field: "ExportTraceServiceRequest", description: status.message },
        ]);
      }
      assert.deepEqual(server.store.batches, []);
    });

    test(`of a full queue is a 429 with the time to retry, in ${contentType}`, async () => {
      await using server = await startOtlp();
      server.store.beforeAppend = () => {
        throw new AppError("rate_limited", "The queue of this organization is full.", { retryAfterMs: 2500 });
      };
      const bytes =
        contentType === json
          ? JSON.stringify(toOtlpJson(logRequest()))
          : encode("ExportLogsServiceRequest", logRequest());
      const response = await server.post("/v1/logs", bytes, headers);
      assert.equal(response.status, 429);
      assert.equal(response.headers.get("retry-after"), "3");
      const status = await statuses(response);
      assert.equal(status.code, 8);
      const [detail] = status.details ?? [];
      if (contentType === json) assert.equal(detail?.["retryDelay"], "2.5s");
      else {
        const value = decode("RetryInfo", Buffer.from(detail?.["value"] as string, "base64"));
        assert.deepEqual(value, { retryDelay: { seconds: "2", nanos: 500_000_000 } });
      }
    });

    test(`of a store that is down is a 503 with Retry-After, in ${contentType}`, async () => {
      await using server = await startOtlp();
      server.store.beforeAppend = () => Promise.reject(new AppError("overloaded", "The store does not answer."));
      const bytes =
        contentType === json
          ? JSON.stringify(toOtlpJson(spanRequest()))
          : encode("ExportTraceServiceRequest", spanRequest());
      const response = await server.post("/v1/traces", bytes, headers);
      assert.equal(response.status, 503);
      assert.equal(response.headers.get("retry-after"), "1");
      assert.equal((await statuses(response)).code, 14);
    });

    test(`of authentication and of the method has the same form, in ${contentType}`, async () => {
      await using server = await startOtlp();
      const unknown = await server.post("/v1/traces", "", { ...headers, authorization: "Bearer sk-unknown" });
      assert.equal(unknown.status, 401);
      assert.equal(unknown.headers.get("www-authenticate"), "Bearer");
      assert.equal((await statuses(unknown)).code, 16);
      const put = await fetch(`${server.url}/v1/traces`, { method: "PUT", headers });
      assert.equal(put.status, 405);
      assert.equal((await statuses(put)).code, 12);
    });
  }

  test("of a key that may not write is a 403", async () => {
    await using server = await startOtlp({ key: testKey({ permissions: new Set(["inference"]) }) });
    const response = await server.post("/v1/traces", "");
    assert.equal(response.status, 403);
    assert.equal((await statuses(response)).code, 7);
  });

  test("of another content type or encoding is a 415", async () => {
    await using server = await startOtlp();
    const text = await server.post("/v1/logs", "hello", { "content-type": "text/plain" });
    assert.equal(text.status, 415);
    assert.match((await statuses(text)).message, /application\/x-protobuf/);
    const brotli = await server.post("/v1/logs", "hello", { "content-encoding": "br" });
    assert.equal(brotli.status, 415);
  });

  test("of a garbled or cut compressed body is a 400", async () => {
    await using server = await startOtlp();
    const bytes = encode("ExportLogsServiceRequest", logRequest({}));
    for (const [coding, compress] of Object.entries(compressors)) {
      const compressed = compress(bytes);
      for (const sent of ["not compressed", compressed.subarray(0, compressed.length - 6), compressed.subarray(0, 3)]) {
        const response = await server.post("/v1/logs", sent, { "content-encoding": coding });
        assert.equal(response.status, 400, coding);
        const { code, message } = await statuses(response);
        assert.equal(code, 3);
        assert.match(message, new RegExp(`not valid ${coding}`));
      }
    }
    assert.deepEqual(server.store.batches, []);
  });

  test("of zstd that wants more memory for its window than decoders should have is a 400", async () => {
    await using server = await startOtlp();
    const stream = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 27 } });
    stream.end(Buffer.alloc(1_000_000));
    const response = await server.post("/v1/logs", await buffer(stream), { "content-encoding": "zstd" });
    assert.equal(response.status, 400);
  });

  test("inside the server reveals no internals", async () => {
    await using server = await startOtlp();
    server.store.beforeAppend = () => {
      throw new Error("secret detail");
    };
    const response = await server.post("/v1/traces", encode("ExportTraceServiceRequest", spanRequest()));
    assert.equal(response.status, 500);
    const status = await statuses(response);
    assert.equal(status.code, 13);
    assert.ok(!status.message.includes("secret"));
  });
});

describe("the size limit", () => {
  const large = encode("ExportLogsServiceRequest", logRequest({ body: { stringValue: "x".repeat(500_000) } }));

  test("applies to plain bodies", async () => {
    await using server = await startOtlp({ limitBytes: 400_000 });
    const response = await server.post("/v1/logs", large);
    assert.equal(response.status, 413);
    assert.equal((await statuses(response)).code, 8);
  });

  test("applies after decompression, to small and to large bodies", async () => {
    await using server = await startOtlp({ limitBytes: 400_000 });
    for (const [coding, compress] of Object.entries(compressors)) {
      for (const sent of [compress(large), compress(Buffer.alloc(200_000_000))]) {
        const response = await server.post("/v1/logs", sent, { "content-encoding": coding });
        assert.equal(response.status, 413, coding);
      }
    }
    assert.deepEqual(server.store.batches, []);
  });

  test("admits bodies just below it", async () => {
    await using server = await startOtlp({ limitBytes: large.length });
    assert.equal((await server.post("/v1/logs", large)).status, 200);
    for (const [coding, compress] of Object.entries(compressors)) {
      assert.equal((await server.post("/v1/logs", compress(large), { "content-encoding": coding })).status, 200);
    }
    assert.equal(server.store.rows("logs").length, 4);
  });
});

test("resources and scopes are written once, and not again while the store knows them", async () => {
  await using server = await startOtlp();
  const bytes = encode(
    "ExportLogsServiceRequest",
    logRequest({}, { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] }),
  );
  for (let index = 0; index < 3; index += 1) await server.post("/v1/logs", bytes);
  assert.equal(server.store.rows("logs").length, 3);
  assert.equal(server.store.rows("resources").length, 1);
  assert.equal(server.store.rows("scopes").length, 1);
  assert.equal(server.store.rows("logs")[0]?.["service"], "shop");
});

test("a request is answered only when its rows are stored", async () => {
  await using server = await startOtlp();
  const { promise: stored, resolve: release } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  server.store.beforeAppend = () => {
    reach();
    return stored;
  };
  let answered = false;
  const response = server.post("/v1/traces", encode("ExportTraceServiceRequest", spanRequest())).then((each) => {
    answered = true;
    return each;
  });
  await reached;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(answered, false);
  release();
  assert.equal((await response).status, 200);
});

describe("the memory of bodies", () => {
  test("is bounded: a request beyond an organization's share is refused until others finish", async () => {
    await using server = await startOtlp({ pendingBytes: 400_000 });
    const { promise: stored, resolve: release } = Promise.withResolvers<void>();
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    server.store.beforeAppend = () => {
      reach();
      return stored;
    };
    const large = encode("ExportLogsServiceRequest", logRequest({ body: { stringValue: "x".repeat(150_000) } }));
    const first = server.post("/v1/logs", large);
    await reached;
    const second = await server.post("/v1/logs", large);
    assert.equal(second.status, 429);
    assert.equal(second.headers.get("retry-after"), "1");
    const compressed = await server.post("/v1/logs", gzipSync(large), { "content-encoding": "gzip" });
    assert.equal(compressed.status, 429);
    release();
    assert.equal((await first).status, 200);
    assert.equal((await server.post("/v1/logs", large)).status, 200);
  });
});

test("a request with millions of empty records is refused before they are listed", async () => {
  await using server = await startOtlp();
  const varint = (value: number): number[] =>
    value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
  const field = (number: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from([number * 8 + 2, ...varint(bytes.length)]), bytes]);
  // The records of a scope, each with its tag and the length 0.
  const records = Buffer.alloc(10_000_000, Buffer.from([0x12, 0]));
  for (const body of [field(1, field(2, records)), Buffer.alloc(10_000_000, Buffer.from([0x0a, 0]))]) {
    const response = await server.post("/v1/logs", body);
    assert.equal(response.status, 413);
    assert.match(await response.text(), /more than 524288 fields/);
  }
  assert.equal(server.store.batches.length, 0);
});

test("a record of many megabytes is rejected, and the others of its request are stored", async () => {
  await using server = await startOtlp();
  const [small, large] = ["small", "x".repeat(5_000_000)].map((text) => logRequest({ body: { stringValue: text } }));
  const both = Buffer.concat([encode("ExportLogsServiceRequest", small!), encode("ExportLogsServiceRequest", large!)]);
  const response = await server.post("/v1/logs", both);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /1 log record rejected: 1 larger than 3145728 bytes/);
  assert.equal(server.store.rows("logs").length, 1);
});
