/** Two addresses of one store: statements move to the other when one is down, hangs or cannot work. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { type LogFields, silentLogger } from "../../src/logger.ts";
import type { Connection, ReadRequest } from "../../src/store/connection.ts";
import { connectRemote } from "../../src/store/replicas/connect-remote.ts";
import type { Store } from "../../src/store/store.ts";
import { StoreError } from "../../src/store/store-error.ts";
import { type AddressProxy, startAddressProxy } from "./address-proxy.ts";
import { remotePassword, startRemoteServer, type RemoteServer } from "./remote-server.ts";
import { countSpans, numberedSpans, openTestStore, spanBatch, testSettings } from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const clickhouse = { ...testSettings.clickhouse, user: "sounding", password: remotePassword };

describe("a store with two addresses", () => {
  let remote: RemoteServer;
  let proxies: readonly [AddressProxy, AddressProxy];
  beforeTests(async (stack) => {
    remote = stack.use(await startRemoteServer());
    proxies = [stack.use(await startAddressProxy(remote.url)), stack.use(await startAddressProxy(remote.url))];
  });

  const settings = () => ({
    ...testSettings,
    journal: "off" as const,
    clickhouse: { ...clickhouse, url: proxies.map(({ url }) => url) },
  });
  const isUp = (store: Store, proxy: AddressProxy) => store.addresses().find(({ url }) => url === proxy.url)!.isUp;
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  /** Writes and reads without a pause. */
  function startLoad(store: Store, organizationId: string) {
    const ending = new AbortController();
    const failures: unknown[] = [];
    let written = 0;
    let read = 0;
    const repeat = async (step: () => Promise<void>): Promise<void> => {
      while (!ending.signal.aborted) await step().catch((error: unknown) => void failures.push(error));
    };
    const write = async (): Promise<void> => {
      written += 1;
      await store.append(spanBatch(organizationId, numberedSpans(`load${written}`, 3)));
    };
    const query = async (): Promise<void> => {
      await countSpans(store, organizationId);
      read += 1;
    };
    const loops = [write, write, write, query, query].map(repeat);
    return {
      failures,
      /** Resolves after as many more writes and reads as there are loops, so each loop has made one since. */
      async untilMore() {
        const goal = { written: written + 10, read: read + 5 };
        await until(() => written >= goal.written && read >= goal.read);
      },
      async end(): Promise<number> {
        ending.abort();
        await Promise.all(loops);
        return written * 3;
      },
    };
  }

  for (const { does, fail } of [
    { does: "is down", fail: (proxy: AddressProxy) => proxy.goDown() },
    { does: "hangs", fail: async (proxy: AddressProxy) => proxy.hang() },
  ]) {
    test(`loses no row and fails no query while each of them ${does} in turn`, async () => {
      const logged: (readonly [unknown, string])[] = [];
      const log = (fields: LogFields, message: string) => void logged.push([fields["address"], message]);
      const logger = { debug: log, info: log, warn: log, error: log };
      await using opened = await openTestStore({ settings: settings(), logger });
      const { store } = opened;
      const organizationId = `org_${does.replace(" ", "_")}`;
      const load = startLoad(store, organizationId);
      await load.untilMore();
      const unused = proxies[1].connections;
      for (const proxy of proxies) {
        await fail(proxy);
        await until(() => !isUp(store, proxy));
        await load.untilMore();
        await proxy.heal();
        await until(() => isUp(store, proxy));
        await load.untilMore();
      }
      const rows = await load.end();
      assert.deepEqual(load.failures, []);
      const counts = await countSpans(store, organizationId);
      assert.equal(counts.size, rows);
      assert.ok([...counts.values()].every((times) => times === 1));
      assert.ok(proxies[1].connections > unused);
      for (const { url } of proxies) {
        assert.deepEqual(
          logged.filter(([address]) => address === url).map(([, message]) => message),
          ["an address of ClickHouse failed; statements go to another", "an address of ClickHouse answers again"],
        );
      }
    });
  }

  test("becomes ready while the first address is down", async () => {
    await proxies[0].goDown();
    try {
      await using opened = await openTestStore({ settings: settings() });
      await opened.store.append(spanBatch("org_first", numberedSpans("first", 2)));
      assert.equal((await countSpans(opened.store, "org_first")).size, 2);
    } finally {
      await proxies[0].heal();
    }
  });
});

describe("a statement", { timeout: 120_000 }, () => {
  /** Servers that answer as told, a connection to them, and what they were asked. */
  async function start(...answers: readonly RequestListener[]) {
    const asked: number[] = [];
    const servers = answers.map((answer, index) =>
      createServer((request, response) => {
        request.resume();
        if (request.url!.startsWith("/ping")) return void response.end("Ok.\n");
        asked.push(index);
        answer(request, response);
      }),
    );
    for (const server of servers) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    const url = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const connection = connectRemote({
      clickhouse: { ...clickhouse, cluster: "main", compression: false, url },
      maximumConnections: 2,
      logger: silentLogger,
    });
    return {
      asked,
      connection,
      async [Symbol.asyncDispose]() {
        await connection.close();
        for (const server of servers) server.close().closeAllConnections();
      },
    };
  }
  const works: RequestListener = (_request, response) => void response.end("1\n");
  const fails =
    (code: number): RequestListener =>
    (_request, response) =>
      void response.writeHead(500, { "x-clickhouse-exception-code": String(code) }).end(`Code: ${code}.`);
  // A time limit would begin before the tests above.
  const { signal } = new AbortController();
  const statement: ReadRequest = { text: "SELECT 1", parameters: new Map(), settings: {}, signal };
  async function textOf(connection: Connection, request = statement): Promise<string> {
    let text = "";
    for await (const chunk of await connection.read(request)) text += Buffer.from(chunk).toString();
    return text;
  }
  const insert = { table: "spans", columns: ["a"], blocks: [], settings: { insert_deduplication_token: "t" }, signal };

  test("moves from a replica whose table is read-only, and stays where it worked", async () => {
    const insertOk: RequestListener = (_request, response) => void response.end();
    await using pair = await start(fails(242), insertOk);
    await pair.connection.insert(insert);
    await pair.connection.insert(insert);
    assert.deepEqual(pair.asked, [0, 1, 1]);
  });

  test("moves from a proxy that answers 502", async () => {
    await using pair = await start((_request, response) => void response.writeHead(502).end(), works);
    assert.equal(await textOf(pair.connection), "1\n");
    assert.deepEqual(pair.asked, [0, 1]);
  });

  test("moves when the answer ends before its first byte", async () => {
    const breaks: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.flushHeaders();
      setImmediate(() => response.destroy());
    };
    await using pair = await start(breaks, works);
    assert.equal(await textOf(pair.connection), "1\n");
  });

  test("does not move once a byte of the answer was passed on", async () => {
    let cut: () => void = () => {};
    const breaks: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "10" }).write("12345");
      cut = () => response.destroy();
    };
    await using pair = await start(breaks, works);
    const bytes = (await pair.connection.read(statement))[Symbol.asyncIterator]();
    assert.equal(Buffer.from((await bytes.next()).value).toString(), "12345");
    cut();
    await assert.rejects(bytes.next(), StoreError);
    assert.deepEqual(pair.asked, [0]);
  });

  test("that fails for its own sake is not tried elsewhere", async () => {
    await using pair = await start(fails(62), works);
    await assert.rejects(textOf(pair.connection), { code: 62 });
    assert.deepEqual(pair.asked, [0]);
  });

  test("that must not run twice is not tried elsewhere if it may have begun", async () => {
    const breaks: RequestListener = (request) => request.socket.destroy();
    await using pair = await start(breaks, works);
    await assert.rejects(textOf(pair.connection, { ...statement, runsOnce: true }), StoreError);
    assert.deepEqual(pair.asked, [0]);
    assert.equal(await textOf(pair.connection, { ...statement, runsOnce: true }), "1\n");
  });

  test("reports what a replica answered if none can run it", async () => {
    const breaks: RequestListener = (request) => request.socket.destroy();
    await using pair = await start(breaks, fails(242));
    await assert.rejects(pair.connection.insert(insert), { code: 242 });
  });

  test("of a migration goes to one address only", async () => {
    await using pair = await start(fails(242), works);
    await assert.rejects(pair.connection.pinned().command("CREATE", signal), { code: 242 });
    assert.equal(await pair.connection.pinned().command("CREATE", signal), "1\n");
    assert.deepEqual(pair.asked, [0, 1]);
  });

  test("that its caller cancels does not count against the address", async () => {
    const cancelling = new AbortController();
    await using pair = await start(() => cancelling.abort(), works);
    await assert.rejects(textOf(pair.connection, { ...statement, signal: cancelling.signal }));
    assert.deepEqual(
      pair.connection.addresses().map(({ isUp }) => isUp),
      [true, true],
    );
    assert.deepEqual(pair.asked, [0]);
  });
});
