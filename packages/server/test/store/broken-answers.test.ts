/** The error of a read when the store fails: before the answer, in the middle of it, or by a stall. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { createTelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { AppError, type ErrorCode } from "../../src/errors.ts";
import { MemoryBudget } from "../../src/memory-budget.ts";
import { createConnection, type Connection } from "../../src/store/connection.ts";
import { RowCaches } from "../../src/store/row-cache.ts";
import { bind, callerOrganization, sql } from "../../src/store/statement.ts";
import type { TenantReader } from "../../src/store/store.ts";
import { ReadLimiter } from "../../src/store/read-limiter.ts";
import { createTenantReader } from "../../src/store/tenant-reader.ts";
import { scopeOf } from "./test-store.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";

const rows = `["n"]\n${"[1]\n".repeat(1000)}`;
const statement = sql`SELECT 1 AS n, ${callerOrganization} AS own`;

describe("an answer of the store", () => {
  let answer: (response: ServerResponse) => void;
  let requests: number;
  let urls: string[];
  let server: ReturnType<typeof createServer>;
  let connection: Connection;
  let reader: TenantReader;

  beforeEachTest(async (stack) => {
    requests = 0;
    urls = [];
    server = createServer({ maxHeaderSize: 1_100_000 }, (request, response) => {
      requests += 1;
      urls.push(request.url ?? "");
      request.resume();
      answer(response);
    });
    stack.defer(() => server.closeAllConnections());
    stack.defer(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    connection = createConnection({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      database: "default",
      compression: false,
      maximumConnections: 2,
    });
    stack.defer(() => connection.close());
    reader = createTenantReader(
      {
        connection,
        tables: ["spans"],
        settings: {},
        queryTimeoutMs: 30_000,
        caches: new RowCaches(1000),
        reads: new ReadLimiter(4),
        descriptionVersions: undefined,
        usesRollups: false,
        cipher: createTelemetryCipher([]),
        whenVisible: () => undefined,
      },
      scopeOf("org_broken"),
    );
  });

  const refused = (code: ErrorCode, message?: RegExp) => (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code, `${error.message} ${String(error.cause)}`);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  };
  const fails = (code: number, text: string) => (response: ServerResponse) =>
    response
      .writeHead(500, { "x-clickhouse-exception-code": String(code) })
      .end(`Code: ${code}. DB::Exception: ${text}`);

  for (const [code, text, expected] of [
    [159, "Timeout exceeded: elapsed 30 s (TIMEOUT_EXCEEDED)", "upstream_timeout"],
    [160, "Estimated query execution time is too long (TOO_SLOW)", "upstream_timeout"],
    [158, "Limit for rows exceeded (TOO_MANY_ROWS)", "invalid_request"],
    [307, "Limit for bytes exceeded (TOO_MANY_BYTES)", "invalid_request"],
    [396, "Limit for result exceeded (TOO_MANY_ROWS_OR_BYTES)", "invalid_request"],
    [62, "Syntax error: Max query size exceeded (SYNTAX_ERROR)", "invalid_request"],
    [62, "Syntax error: failed at position 1 (SYNTAX_ERROR)", "internal"],
    [168, "AST is too big (TOO_BIG_AST)", "invalid_request"],
    [241, "Query memory limit exceeded: would use 1 GiB (MEMORY_LIMIT_EXCEEDED)", "invalid_request"],
    [241, "Memory limit (for query) exceeded (MEMORY_LIMIT_EXCEEDED)", "invalid_request"],
    [241, "(total) memory limit exceeded (MEMORY_LIMIT_EXCEEDED)", "overloaded"],
    [394, "Query was cancelled (QUERY_WAS_CANCELLED)", "overloaded"],
    [202, "Too many simultaneous queries (TOO_MANY_SIMULTANEOUS_QUERIES)", "overloaded"],
    [210, "Connection refused (NETWORK_ERROR)", "overloaded"],
    [60, "Table default.logs does not exist (UNKNOWN_TABLE)", "overloaded"],
    [1001, "std::exception: No space left on device (STD_EXCEPTION)", "overloaded"],
    [1001, "std::exception: bad_alloc (STD_EXCEPTION)", "overloaded"],
    [40, "Checksum doesn't match (CHECKSUM_DOESNT_MATCH)", "internal"],
    [47, "Unknown identifier (UNKNOWN_IDENTIFIER)", "internal"],
  ] as const) {
    test(`with error ${code} (${text}) is ${expected}, and its text stays inside`, async () => {
      answer = fails(code, `${text} secret`);
      await assert.rejects(reader.query(statement), (error: AppError) => {
        assert.ok(!`${error.message} ${(error.cause as Error).message}`.includes("secret"));
        return refused(expected)(error);
      });
      await assert.rejects(reader.columns(statement), refused(expected));
    });
  }

  test("that ends with an error after some rows is that error, never just the rows", async () => {
    for (const [code, expected] of [
      [159, "upstream_timeout"],
      [396, "invalid_request"],
      [241, "overloaded"],
    ] as const) {
      answer = (response) => response.end(`${rows}Code: ${code}. DB::Exception: it ended (AN_ERROR) (version 26.1)\n`);
      await assert.rejects(reader.query(statement), refused(expected));
    }
  });

  test("that is cut in the middle can be retried", async () => {
    answer = (response) => response.end(`${rows}[1`);
    await assert.rejects(reader.query(statement), refused("overloaded"));
    answer = (response) => {
      response.write(rows, () => response.destroy());
    };
    await assert.rejects(reader.query(statement), refused("overloaded"));
    // Two columns without data.
    for (const end of [true, false]) {
      answer = (response) => response.write(Buffer.from([2]), () => (end ? response.end() : response.destroy()));
      await assert.rejects(reader.columns(statement), refused("overloaded"));
    }
  });

  test("that stalls in the middle until the deadline is a timeout", async () => {
    answer = (response) => void response.write(rows);
    await assert.rejects(reader.query(statement, { timeoutMs: 1 }), refused("upstream_timeout", /took too long/));
    // Two columns, no rows yet: the reader waits for the rest of the first block.
    answer = (response) => void response.write(Buffer.from([2]));
    await assert.rejects(reader.columns(statement, { timeoutMs: 1 }), refused("upstream_timeout"));
  });

  test("whose reader stops in the middle closes the store's connection, which ends the statement there", async () => {
    const left = Promise.withResolvers<void>();
    answer = (response) => {
      response.once("close", () => left.resolve());
      response.write(rows);
    };
    const leaving = new AbortController();
    const read = async (): Promise<void> => {
      for await (const _row of reader.stream(statement, { signal: leaving.signal })) leaving.abort();
    };
    await assert.rejects(read(), refused("client_closed"));
    await left.promise;
  });

  test("is not requested with parameters too long for a URL", async () => {
    answer = (response) => response.end(rows);
    for (const text of ["x".repeat(2_000_000), "\u6f22".repeat(300_000), "%".repeat(500_000)]) {
      const long = sql`SELECT ${bind.text(text)}, ${callerOrganization}`;
      await assert.rejects(reader.query(long), refused("invalid_request"));
    }
    assert.equal(requests, 0);
  });

  test("is charged to the request's memory while it arrives, and ends when the budget is exhausted", async () => {
    answer = (response) => response.end(rows);
    const budget = new MemoryBudget(1_000_000);
    const charge = budget.open("org_broken");
    await reader.query(statement, { memory: charge });
    assert.equal(budget.usedBytes, 4 * rows.length);
    charge.release();
    // The budget has room for other requests, but not for this one.
    const small = new MemoryBudget(2 * rows.length);
    await assert.rejects(
      reader.query(statement, { memory: small.open("org_broken") }),
      refused("invalid_request", /result is too large\. Use a shorter time range or request fewer results/),
    );
    const others = budget.open("org_broken");
    // The budget left is smaller than the answer, even if columns are charged once and rows four times.
    others.add(499_000);
    await assert.rejects(reader.query(statement, { memory: budget.open("org_broken") }), refused("rate_limited"));
    await assert.rejects(reader.columns(statement, { memory: budget.open("org_broken") }), refused("rate_limited"));
  });

  test("is requested with limits that cause an error, whatever the server's profile", async () => {
    answer = (response) => response.end(rows);
    await reader.query(statement);
    const sent = new URL(urls[0]!, "http://localhost").searchParams;
    for (const what of ["result", "timeout", "read", "sort", "group_by", "distinct", "set", "join"]) {
      assert.equal(sent.get(`${what}_overflow_mode`), "throw", what);
    }
  });
});
