import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { WebSocket } from "ws";
import { lokiTail } from "../../src/api/loki.ts";
import { route, type MessageSocket, type ServeSocket } from "../../src/http/route.ts";
import { labelsFrom } from "@sounding/promql/series/labels";
import { AppError } from "../../src/errors.ts";
import { tailLogs, type TailOptions } from "../../src/query/loki-api/tail/tail-logs.ts";
import type { TailEntry } from "../../src/query/loki-api/tail/tail-message.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { appendLogs, type LogRecord } from "./log-records.ts";
import { startLokiServer, type LokiServer } from "./loki-server.ts";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";

const second = 1_000_000_000n;
const none = labelsFrom([]);

interface Message {
  readonly streams: { readonly stream: Record<string, string>; readonly values: [string, string, object?][] }[];
  readonly dropped_entries?: { readonly timestamp: string; readonly labels: Record<string, string> }[];
  readonly encodingFlags?: string[];
}

function entry(unixNano: bigint, line: string, service = "a"): TailEntry {
  const labels = labelsFrom([["service_name", service]]);
  return { unixNano, line, labels, structuredMetadata: none, parsed: none };
}

/** A tail of entries in memory whose clock the test moves: each wait is one step of the script, and the tail ends after the last. */
async function follow(
  entries: TailEntry[],
  script: readonly (() => void)[],
  changes: Partial<TailOptions> & { socket?: MessageSocket; onRead?: (calls: number) => void } = {},
) {
  let nowNano = 1000n * second;
  const messages: Message[] = [];
  const steps = [...script];
  let reads = 0;
  const { onRead, socket, ...options } = changes;
  await assert.rejects(
    tailLogs(
      async ({ fromUnixNano, toUnixNano }, limit) => {
        onRead?.((reads += 1));
        return entries
          .filter(({ unixNano }) => unixNano >= fromUnixNano && unixNano < toUnixNano)
          .sort((left, right) => Number(left.unixNano - right.unixNano))
          .slice(-limit);
      },
      socket ?? { queuedBytes: 0, send: (text) => void messages.push(JSON.parse(text) as Message) },
      {
        startUnixNano: 0n,
        limit: 100,
        delayNanos: 0n,
        categorizesLabels: false,
        now: () => nowNano,
        wait: async () => {
          nowNano += second;
          const step = steps.shift();
          if (step === undefined) throw new AppError("client_closed", "The script is over.");
          step();
        },
        ...options,
      },
    ),
    /The script is over|The engine failed/,
  );
  return { messages, lines: messages.flatMap(linesOf) };
}

function linesOf({ streams }: Message): string[] {
  return streams.flatMap(({ values }) => values.map(([, line]) => line));
}

describe("a tail", () => {
  test("sends the newest entries first, then each new one once, in order of time", async () => {
    const entries = [1n, 2n, 3n].map((at) => entry(at * second, `old ${at}`));
    const { lines } = await follow(entries, [() => entries.push(entry(1000n * second, "new")), () => {}, () => {}], {
      limit: 2,
    });
    assert.deepEqual(lines, ["old 2", "old 3", "new"]);
  });

  test("sends an entry that arrives late, but none that the limit left out", async () => {
    const entries = [entry(990n * second, "left out"), entry(995n * second, "first")];
    const { lines } = await follow(entries, [() => entries.push(entry(996n * second, "late")), () => {}], { limit: 1 });
    assert.deepEqual(lines, ["first", "late"]);
  });

  test("waits for late entries as long as the delay says, and sends them in order", async () => {
    const entries = [entry(999n * second, "second")];
    const late = () => entries.push(entry(998n * second, "first"));
    const { lines } = await follow(entries, [late, () => {}, () => {}, () => {}], { delayNanos: 3n * second });
    assert.deepEqual(lines, ["first", "second"]);
  });

  test("groups neighbours of the same stream, and keeps the order across streams", async () => {
    const entries = [entry(1n, "1"), entry(2n, "2"), entry(3n, "3", "b"), entry(4n, "4")];
    const { messages } = await follow(entries, []);
    assert.deepEqual(
      messages[0]!.streams.map(({ stream, values }) => [stream["service_name"], values.length]),
      [
        ["a", 2],
        ["b", 1],
        ["a", 1],
      ],
    );
  });

  test("sends at most 100 entries in a message", async () => {
    const entries = Array.from({ length: 250 }, (_, index) => entry(BigInt(index), String(index)));
    const { messages } = await follow(entries, [], { limit: 1000 });
    assert.deepEqual(
      messages.map((message) => linesOf(message).length),
      [100, 100, 50],
    );
  });

  test("drops entries while the client is slow, and names them in the next message", async () => {
    const entries = [entry(1n, "first")];
    const sent: string[] = [];
    let queuedBytes = 0;
    const socket = {
      get queuedBytes() {
        return queuedBytes;
      },
      send: (text: string) => void sent.push(text),
    };
    const pause = () => {
      queuedBytes = 10_000_000;
      entries.push(entry(1000n * second, "missed"));
    };
    const waits = Array.from({ length: 10 }, () => () => {});
    const resume = () => {
      queuedBytes = 0;
      entries.push(entry(1012n * second, "received"));
    };
    await follow(entries, [pause, ...waits, resume, () => {}], { socket });
    const messages = sent.map((text) => JSON.parse(text) as Message);
    assert.deepEqual(messages.flatMap(linesOf), ["first", "received"]);
    assert.deepEqual(messages[1]!.dropped_entries, [
      { timestamp: String(1000n * second), labels: { service_name: "a" } },
    ]);
  });

  test("reads on if more entries arrive than a read returns", async () => {
    const entries: TailEntry[] = [];
    const arrive = () => {
      for (let index = 0; index < 9000; index++) entries.push(entry(1000n * second + BigInt(index), String(index)));
    };
    const { lines, messages } = await follow(entries, [arrive, () => {}]);
    assert.deepEqual(
      lines,
      Array.from({ length: 9000 }, (_, index) => String(index)),
    );
    assert.ok(messages.every(({ dropped_entries: dropped }) => dropped === undefined));
  });

  for (const [title, timeOf] of [
    ["arrive than a poll reads", (index: number) => BigInt(index)],
    ["have one time than a read returns", () => 0n],
  ] as const) {
    test(`reports a gap if more entries ${title}`, async () => {
      const entries: TailEntry[] = [];
      const arrive = () => {
        for (let index = 0; index < 10_100; index++) {
          entries.push(entry(1000n * second + timeOf(index), String(index)));
        }
      };
      const { lines, messages } = await follow(entries, [arrive, () => {}]);
      assert.deepEqual(
        lines,
        Array.from(lines, (_, index) => String(10_100 - lines.length + index)),
      );
      const oldest = messages[0]!.streams[0]!.values[0]![0];
      assert.deepEqual(messages[0]!.dropped_entries, [
        { timestamp: String(BigInt(oldest) - 1n), labels: { service_name: "a" } },
      ]);
    });
  }

  test("goes on after the store had no capacity, and ends when it fails", async () => {
    const entries: TailEntry[] = [];
    const arrive = () => entries.push(entry(1000n * second, "arrived"));
    const onRead = (calls: number): void => {
      if (calls === 2) throw new AppError("overloaded", "The telemetry store is not ready.");
      if (calls === 4) throw new AppError("internal", "The engine failed.");
    };
    const { lines } = await follow(entries, [arrive, () => {}, () => {}], { onRead });
    assert.deepEqual(lines, ["arrived"]);
  });
});

describe("tail over a WebSocket", () => {
  let server: LokiServer;
  beforeTests(async (stack) => {
    server = stack.use(await startLokiServer());
  });
  let organization = "";
  let tests = 0;
  beforeEachTest(() => {
    organization = `org_${(tests += 1)}`;
  });

  const selector = { query: '{service_name=~".+"}' };
  let ids = 0n;
  const record = (body: string, changes: Partial<LogRecord> = {}): LogRecord => ({
    unixNano: BigInt(Date.now()) * 1_000_000n,
    recordId: (ids += 1n),
    service: "checkout",
    body,
    ...changes,
  });

  async function* messagesOf(socket: WebSocket): AsyncGenerator<Message> {
    const pending: Message[] = [];
    socket.on("message", (data: Buffer) => pending.push(JSON.parse(data.toString("utf8")) as Message));
    for (;;) {
      if (pending.length === 0) await once(socket, "message");
      for (const message of pending.splice(0)) yield message;
    }
  }

  async function readLines(messages: AsyncGenerator<Message>, count: number): Promise<string[]> {
    const lines: string[] = [];
    while (lines.length < count) lines.push(...linesOf((await messages.next()).value as Message));
    return lines;
  }

  async function refusalOf(socket: WebSocket): Promise<{ status: number; message: string }> {
    const [, response] = (await once(socket, "unexpected-response")) as [
      unknown,
      AsyncIterable<Buffer> & { statusCode: number },
    ];
    const text = Buffer.concat(await Array.fromAsync(response)).toString("utf8");
    return { status: response.statusCode, message: (JSON.parse(text) as { message: string }).message };
  }

  test("sends what is there, and what arrives, of the own organization only", async () => {
    await appendLogs(server.store, organization, [record("before")]);
    const socket = server.tail(selector, organization);
    const messages = messagesOf(socket);
    assert.deepEqual(await readLines(messages, 1), ["before"]);
    await appendLogs(server.store, "org_other", [record("secret")]);
    await appendLogs(server.store, organization, [record("after")]);
    assert.deepEqual(await readLines(messages, 1), ["after"]);
    socket.close();
    await once(socket, "close");
  });

  test("begins now if the client's clock is ahead", async () => {
    await appendLogs(server.store, organization, [
      record("before", { unixNano: BigInt(Date.now() - 60_000) * 1_000_000n }),
    ]);
    const start = String(BigInt(Date.now() + 3_600_000) * 1_000_000n);
    const socket = server.tail({ ...selector, start, delay_for: "1" }, organization);
    const messages = messagesOf(socket);
    await once(socket, "open");
    await appendLogs(server.store, organization, [record("after")]);
    assert.deepEqual(await readLines(messages, 1), ["after"]);
    socket.close();
  });

  test("separates labels if the client asks for it", async () => {
    await appendLogs(server.store, organization, [record("x", { attributes: { "http.route": "/cart" } })]);
    const headers = { "x-loki-response-encoding-flags": "categorize-labels" };
    const socket = server.tail(selector, organization, headers);
    const { value } = await messagesOf(socket).next();
    const { encodingFlags, streams } = value as Message;
    assert.deepEqual(encodingFlags, ["categorize-labels"]);
    assert.deepEqual(streams[0]!.values[0]![2], { structuredMetadata: { http_route: "/cart" } });
    socket.close();
  });

  test("ends when the key is revoked", async () => {
    const socket = server.tail(selector, organization);
    await once(socket, "open");
    server.revoke(organization);
    const [code] = (await once(socket, "close")) as [number];
    assert.equal(code, 1008);
  });

  test("refuses what is no log query, bad parameters and requests without an upgrade", async () => {
    const refusals: [Record<string, string>, RegExp][] = [
      [{}, /query is missing/],
      [{ query: "vector(1)" }, /metric query/],
      [{ query: "{" }, /parse error/],
      [{ ...selector, delay_for: "6" }, /delay_for/],
      [{ ...selector, limit: "-1" }, /limit/],
      [{ ...selector, start: "soon" }, /start/],
    ];
    for (const [parameters, expected] of refusals) {
      const { message, status } = await refusalOf(server.tail(parameters, organization));
      assert.equal(status, 400);
      assert.match(message, expected);
    }
    const plain = await server.get("tail", selector, organization);
    assert.equal(plain.status, 400);
    assert.match(plain.body.message, /needs a WebSocket/);
  });

  test("allows ten tails for an organization, and others to another one", async () => {
    const open = async (): Promise<WebSocket> => {
      const socket = server.tail(selector, organization);
      await once(socket, "open");
      return socket;
    };
    await appendLogs(server.store, organization, [record("first")]);
    const sockets = await Promise.all(Array.from({ length: 10 }, open));
    const refused = await refusalOf(server.tail(selector, organization));
    assert.equal(refused.status, 429);
    assert.match(refused.message, /10 concurrent tails/);
    const other = server.tail(selector, `${organization}_other`);
    await once(other, "open");
    for (const socket of [...sockets, other]) socket.close();
    await Promise.all([...sockets, other].map((socket) => once(socket, "close")));
    for (;;) {
      const again = server.tail(selector, organization);
      const opened = await Promise.race([once(again, "open").then(() => true), refusalOf(again).then(() => false)]);
      again.close();
      if (opened) break;
    }
  });
});

test("a client that stops reading loses entries, and learns which once it reads again", async () => {
  const socketOfServer = Promise.withResolvers<MessageSocket>();
  const client = Promise.withResolvers<WebSocket>();
  const body = "x".repeat(100_000);
  let polls = 0n;
  let isOver = false;
  /** Each poll finds more entries, until the client has missed some; then it reads again, and one more entry comes. */
  const read = async (): Promise<TailEntry[]> => {
    polls += 1n;
    const { queuedBytes } = await socketOfServer.promise;
    if (queuedBytes <= 1_048_576) {
      return Array.from({ length: 20 }, (_, index) => entry(polls * second + BigInt(index), body));
    }
    (await client.promise).resume();
    while ((await socketOfServer.promise).queuedBytes > 0) await setImmediate();
    isOver = true;
    return [entry(polls * second, "last")];
  };
  const serve: ServeSocket = async (socket) => {
    socketOfServer.resolve(socket);
    const now = () => polls * second + 30n * second;
    const wait = async () => {
      await setImmediate();
      if (isOver) throw new AppError("timeout", "The test is over.");
    };
    const options = { startUnixNano: 0n, limit: 100, delayNanos: 0n, categorizesLabels: false, now, wait };
    await tailLogs(read, socket, options);
  };
  const plain = () => ({ kind: "text", text: "", type: "text/plain" }) as const;
  await using http = await startTestHttp({ routes: [route<never>(lokiTail, plain, { upgrade: () => serve })] });
  const headers = { authorization: `Bearer ${testSecret}` };
  const socket = new WebSocket(`${http.url.replace("http", "ws")}/loki/api/v1/tail`, { headers });
  const messages: Message[] = [];
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString("utf8")) as Message));
  socket.once("open", () => socket.pause());
  client.resolve(socket);
  await once(socket, "close");
  const last = messages.at(-1)!;
  assert.deepEqual(linesOf(last), ["last"]);
  assert.ok(last.dropped_entries!.length > 0);
  const lost = last.dropped_entries!.map(({ timestamp }) => timestamp);
  const received = messages.flatMap(({ streams }) => streams.flatMap(({ values }) => values.map(([time]) => time)));
  assert.equal(new Set([...lost, ...received]).size, lost.length + received.length);
  assert.equal(lost.length + received.length, Number(polls - 1n) * 20 + 1);
});
