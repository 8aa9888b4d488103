/** Connections that send little or nothing: they must hold nothing but themselves, and must not stop other clients. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

interface Opened {
  readonly count: number;
  readonly path: string;
  readonly declaredBytes: number;
  readonly key?: string | undefined;
}

/** Connections that have sent the headers of a request and none of its body. */
async function openDeclared({ count, declaredBytes, key, path }: Opened): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      const head = [
        `POST ${path} HTTP/1.1`,
        "Host: x",
        ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
        "Content-Type: application/json",
        `Content-Length: ${declaredBytes}`,
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      return socket;
    }),
  );
}

function descriptors(): number {
  return readdirSync(`/proc/${server.pid}/fd`).length;
}

async function untilDescriptors(most: number): Promise<void> {
  for (;;) {
    if (descriptors() <= most) return;
    await delay(50);
  }
}

function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

async function signIn(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}/authentication/sessions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key: server.placeholders["key"] }),
  });
  await response.arrayBuffer();
  return response.status;
}

const exportLogs = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/** Opens calls without a message. */
function openCalls(session: ClientHttp2Session, count: number): Promise<unknown> {
  const calls = Array.from({ length: count }, () => {
    const call = session.request({
      ":method": "POST",
      ":path": exportLogs,
      "content-type": "application/grpc",
      authorization: `Bearer ${server.placeholders["key"]}`,
    });
    call.on("error", () => {});
    call.resume();
    return call;
  });
  session.on("error", () => {});
  return Promise.all(calls.map((call) => Promise.race([once(call, "ready"), once(call, "close")])));
}

describe("connections", { timeout: 180_000 }, () => {
  test("that only declare a body hold no memory of others", async () => {
    const before = descriptors();
    const key = server.placeholders["key"];
    const report = await attack(server, async () => {
      const held = await openDeclared({ count: 1024, path: "/authentication/sessions", declaredBytes: 262_144 });
      for (const [declaredBytes, count] of [
        [16_777_216, 16],
        [1_048_576, 16],
        [65_536, 16],
        [4096, 16],
      ] as const) {
        held.push(...(await openDeclared({ count, path: "/v1/chat/completions", declaredBytes, key })));
      }
      held.push(...(await openDeclared({ count: 8, path: "/v1/logs", declaredBytes: 67_108_864, key })));
      await delay(500);
      assert.notEqual(await signIn(), 503);
      closeAll(held);
    });
    // A thousand requests begin in one turn.
    assertUnharmed(report, { maximumPeakBytes: 200_000_000, maximumTurnMs: 500 });
    await untilDescriptors(before + 10);
  });

  test("with open calls are bounded per organization", async () => {
    const before = descriptors();
    const report = await attack(server, async () => {
      const sessions = Array.from({ length: 40 }, () => connectHttp2(`http://127.0.0.1:${server.port}`));
      await Promise.all(sessions.map((session) => openCalls(session, 250)));
      let open = 0;
      // A slow machine takes seconds to read them all.
      while (open <= 1000) {
        const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
        open = Number(/^sounding_open_requests (?<count>\d+)$/m.exec(metrics)?.groups?.["count"]);
      }
      assert.ok(open <= 4096 + 10, `${open} requests are open`);
      for (const session of sessions) session.destroy();
    });
    // Ten thousand calls begin in one turn.
    assertUnharmed(report, { maximumPeakBytes: 300_000_000, maximumTurnMs: 500 });
    await untilDescriptors(before + 10);
  });

  test("that reset their calls at once are closed", async () => {
    const report = await attack(server, async () => {
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          const session = connectHttp2(`http://127.0.0.1:${server.port}`);
          session.on("error", () => {});
          const closed = new Promise((resolve) => session.once("close", resolve));
          let sent = 0;
          const sendMore = (): void => {
            for (let each = 0; each < 50 && !session.closed && !session.destroyed; each += 1) {
              const call = session.request({ ":method": "POST", ":path": exportLogs });
              call.on("error", () => {});
              call.close(8);
              sent += 1;
            }
            if (!session.closed && !session.destroyed) setImmediate(sendMore);
          };
          sendMore();
          await closed;
          assert.ok(sent < 15_000, `${sent} calls were sent before the connection was closed`);
        }),
      );
    });
    assertUnharmed(report, { maximumPeakBytes: 200_000_000 });
  });
});
