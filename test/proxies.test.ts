/** nginx and Caddy with the configurations of deploy/proxies/ pass on everything that Sounding serves, and pass it on at once. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { connect, constants } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Agent, request, WebSocket } from "undici";
import { proxyNames, startProxy, type ReverseProxy } from "./support/reverse-proxies.ts";
import { serveProcess, type ServedProcess } from "./support/served-process.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

/** The model's server: it sends a chunk when a test says so. */
const upstream = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  upstream.emit("call", response);
});

/** Clients have another address than the proxies. */
const localAddress = "127.0.0.2";
const tls = { rejectUnauthorized: false, localAddress };
const dispatcher = new Agent({ connect: { rejectUnauthorized: false }, localAddress });

let folder: string;
let server: ServedProcess;
let key: string;

beforeTests(async (stack) => {
  folder = await mkdtemp(join(tmpdir(), "sounding-proxies-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  upstream.listen(0, "127.0.0.1");
  stack.defer(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const config = join(folder, "sounding.yaml");
  await writeFile(
    config,
    `server: { trusted_proxies: [127.0.0.1], heartbeat_interval_ms: 86400000 }
engines: { slow: { type: openai_compatible, base_url: "http://127.0.0.1:${port}/v1" } }
models: { slow: { targets: [{ engine: slow, model: slow }] } }
`,
  );
  server = stack.use(await serveProcess({ SOUNDING_CONFIG: config }));
  stack.defer(() => dispatcher.close());
  key = /sk-[\w-]{43}/.exec(server.output.stdout)![0];
});

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "slow", choices: [{ index: 0, delta: { content } }] })}\n\n`;

for (const name of proxyNames) {
  // Caddy makes its certificate itself.
  const skip = name === "nginx" ? needs(name, "openssl") : needs(name);

  describe(`behind ${name}`, { skip, timeout: 120_000 }, () => {
    let proxy: ReverseProxy;
    beforeTests(async (stack) => {
      proxy = stack.use(await startProxy(name, new URL(server.url).host));
    });

    const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      request(`${proxy.url}${path}`, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        dispatcher,
        ...(signal === undefined ? {} : { signal }),
      });

    /** The server's record of a finished request. */
    const logLine = async (id: string): Promise<{ client_address: string; outcome: string }> => {
      const find = (): string | undefined => server.output.stderr.split("\n").find((text) => text.includes(`"${id}"`));
      while (find() === undefined) await once(server.child.stderr!, "data");
      return JSON.parse(find()!) as { client_address: string; outcome: string };
    };

    const ask = async (signal?: AbortSignal, headers: Record<string, string> = {}) => {
      const called = once(upstream, "call") as Promise<[ServerResponse]>;
      const body = JSON.stringify({ model: "slow", stream: true, messages: [{ role: "user", content: "Hello!" }] });
      const responded = send("/v1/chat/completions", body, headers, signal);
      const [engine] = await called;
      engine.write(chunk("word 0"));
      return { engine, response: await responded };
    };

    test("the chunks of a stream arrive one by one", async () => {
      const { engine, response } = await ask();
      response.body.setEncoding("utf8");
      const received = response.body[Symbol.asyncIterator]();
      let text = "";
      for (let index = 0; index < 5; index++) {
        // The engine sends the next chunk only after this one has arrived.
        while (!text.includes(`word ${index}`)) {
          const { value, done } = (await received.next()) as IteratorResult<string>;
          assert.ok(done !== true, text);
          text += value;
        }
        engine.write(chunk(`word ${index + 1}`));
      }
      engine.end("data: [DONE]\n\n");
      for (let next = await received.next(); next.done !== true; next = await received.next())
        text += String(next.value);
      assert.match(text, /word 5[^]*data: \[DONE\]/);
    });

    test("a call ends when its client disconnects", async () => {
      const id = `disconnected-${name}`;
      const disconnect = new AbortController();
      const { engine, response } = await ask(disconnect.signal, { "x-request-id": id });
      const ended = once(engine, "close");
      response.body.on("error", () => {});
      disconnect.abort();
      await ended;
      // Without keep-alives, only the proxy tells the server; otherwise the call lasts until the engine's timeout.
      assert.equal((await logLine(id)).outcome, "client_closed");
    });

    test("the tail of logs works over a WebSocket", async () => {
      const service = `tail-${name}`;
      const query = encodeURIComponent(`{service_name="${service}"}`);
      const socket = new WebSocket(`${proxy.url.replace("https", "wss")}/loki/api/v1/tail?query=${query}`, {
        headers: { authorization: `Bearer ${key}` },
        dispatcher,
      });
      await once(socket, "open");
      const received = once(socket, "message") as Promise<[{ data: string }]>;
      const resource = { attributes: [{ key: "service.name", value: { stringValue: service } }] };
      const record = { timeUnixNano: `${Date.now()}000000`, body: { stringValue: "through the proxy" } };
      const logs = { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] };
      assert.equal((await send("/v1/logs", JSON.stringify(logs))).statusCode, 200);
      const [message] = await received;
      assert.match(message.data, /through the proxy/);
      socket.close();
      await once(socket, "close");
    });

    test("OTLP/gRPC is acknowledged with its trailers", async () => {
      const session = connect(proxy.url, tls);
      const stream = session.request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${key}`,
      });
      stream.resume();
      const trailers = once(stream, "trailers");
      // An empty message in gRPC's frame.
      stream.end(Buffer.alloc(5));
      const [headers] = (await trailers) as [Record<string, string>];
      assert.equal(headers["grpc-status"], "0");
      session.close();
      await once(session, "close");
    });

    test("the log has the client's address, whatever the client claims", async () => {
      const id = `address-${name}`;
      const headers = { "x-request-id": id, "x-forwarded-for": "203.0.113.9" };
      await (await send("/authentication/validate", "{}", headers)).body.dump();
      assert.equal((await logLine(id)).client_address, localAddress);
    });

    test("a large body reaches the server, which explains what is wrong with it", async () => {
      const response = await send("/v1/traces", Buffer.alloc(40_000_000), { "content-type": "application/x-protobuf" });
      assert.equal(response.statusCode, 400);
      assert.match(await response.body.text(), /cannot be decoded/);
    });

    test("an upload reaches the server while it is being sent", async () => {
      const session = connect(proxy.url, tls);
      const upload = session.request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: "/v1/audio/transcriptions",
        authorization: "Bearer sk-wrong",
        "content-type": "multipart/form-data; boundary=part",
      });
      const responded = once(upload, "response") as Promise<[Record<string, unknown>]>;
      upload.on("error", () => {});
      // The server refuses the key, before the body has ended.
      upload.write("--part\r\n");
      const [headers] = await responded;
      assert.equal(headers[constants.HTTP2_HEADER_STATUS], 401);
      session.destroy();
    });

    test("responses tell browsers to use TLS only", async () => {
      for (const path of ["/v1/models", "/healthz", "/console/"]) {
        const { body, headers } = await request(`${proxy.url}${path}`, { dispatcher });
        await body.dump();
        assert.equal(headers["strict-transport-security"], "max-age=31536000", path);
      }
    });

    test("metrics and health are not public", async () => {
      for (const path of ["/metrics", "/readyz", "/healthz"]) {
        const { statusCode, body } = await request(`${proxy.url}${path}`, { dispatcher });
        await body.dump();
        assert.equal(statusCode, 404, path);
      }
    });
  });
}
