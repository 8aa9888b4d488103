/** A pull that gets no answer says why, and does not try again what cannot succeed. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createHttpServer, request as httpRequest, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pullModel } from "../../src/model-files/pull-model.ts";
import type { PullOptions } from "../../src/model-files/pull-options.ts";
import { trialModelBytes } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import { startModelServer, type ModelServer } from "./model-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

const model = trialModelBytes();

describe("a pull without an answer", () => {
  let folder: string;
  let server: ModelServer;
  beforeTests(async (stack) => {
    folder = await mkdtemp(join(tmpdir(), "sounding-network-"));
    stack.defer(() => rm(folder, { recursive: true }));
    server = await startModelServer(model);
    stack.defer(() => server.close());
  });

  const retries: string[] = [];
  const pull = (source: string, options: Partial<PullOptions> = {}) => {
    retries.length = 0;
    return pullModel({
      dataDirectory: join(folder, "data"),
      source,
      signal: new AbortController().signal,
      retryPauseMs: 1,
      onRetry: (_name, { problem }) => retries.push(problem),
      ...options,
    });
  };
  const failsAtOnce = async (source: string, message: RegExp, options: Partial<PullOptions> = {}): Promise<void> => {
    await assert.rejects(pull(source, options), { code: "upstream_failed", message });
    assert.deepEqual(retries, []);
  };
  const portOf = (listening: { address(): unknown }): number => (listening.address() as AddressInfo).port;
  const listening = async <T extends Server | ReturnType<typeof createTcpServer>>(each: T): Promise<T> => {
    each.listen(0, "127.0.0.1");
    await once(each, "listening");
    return each;
  };
  const unusedPort = async (): Promise<number> => {
    const probe = await listening(createTcpServer());
    const port = portOf(probe);
    probe.close();
    await once(probe, "close");
    return port;
  };

  test("names a host that cannot be resolved, of a file and of a repository", async () => {
    const message = /the name models\.invalid cannot be resolved \(DNS, E\w+\)/;
    await failsAtOnce("https://models.invalid/small.gguf", message);
    await failsAtOnce("owner/repository", message, { hubEndpoint: "https://models.invalid" });
  });

  test("names a host that refuses connections", async () => {
    const port = await unusedPort();
    const message = new RegExp(`127\\.0\\.0\\.1:${port} refuses connections \\(ECONNREFUSED\\)`);
    await failsAtOnce(`http://127.0.0.1:${port}/small.gguf`, message);
  });

  test(
    "names a certificate that is not trusted, and the setting that trusts it",
    { skip: needs("openssl") },
    async () => {
      const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const words =
        `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost`.split(" ");
      execFileSync("openssl", [...words, "-keyout", key, "-out", cert], { stdio: "ignore" });
      const secure = await listening(createHttpsServer({ key: await readFile(key), cert: await readFile(cert) }));
      try {
        await failsAtOnce(
          `https://localhost:${portOf(secure)}/small.gguf`,
          /the TLS connection to localhost:\d+ failed: .*certificate \(\w+\)\. .*NODE_EXTRA_CA_CERTS/,
        );
      } finally {
        secure.close();
      }
    },
  );

  test("names a proxy that is not there, cannot be resolved or refuses, without its password", async () => {
    const port = await unusedPort();
    const of = (https: string) => ({ proxies: { http: undefined, https, except: undefined } });
    const source = "https://models.example.org/small.gguf";
    const dead = new RegExp(`the proxy http://127\\.0\\.0\\.1:${port} refuses connections`);
    await failsAtOnce(source, dead, of(`http://user:secret@127.0.0.1:${port}`));
    await failsAtOnce(
      source,
      /the name proxy\.invalid cannot be resolved .*HTTPS_PROXY/,
      of("http://proxy.invalid:3128"),
    );
    const strict = await listening(createHttpServer());
    strict.on("connect", (_request, socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
    try {
      await failsAtOnce(
        source,
        /the proxy http:\S+ refused .* HTTP 407; check/,
        of(`http://127.0.0.1:${portOf(strict)}`),
      );
    } finally {
      strict.close();
    }
  });

  test("goes through a proxy that works, but not to the hosts that are excepted", async () => {
    const seen: string[] = [];
    const proxy = await listening(
      createHttpServer((request, response) => {
        seen.push(request.url ?? "");
        const onward = httpRequest(request.url!, { method: request.method, headers: request.headers }, (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        });
        request.pipe(onward);
      }),
    );
    proxy.on("connect", (request, socket) => {
      seen.push(request.url ?? "");
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
    try {
      const http = `http://127.0.0.1:${portOf(proxy)}`;
      await pull(`${server.url}/direct.gguf`, { proxies: { http, https: undefined, except: "localhost, 127.0.0.1" } });
      assert.deepEqual(seen, []);
      await pull(`${server.url}/small.gguf`, { proxies: { http, https: undefined, except: "example.org" } }).catch(
        () => {},
      );
      assert.ok(seen.length > 0);
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });

  test("announces each further attempt if the connection breaks, and reports the reason at the end", async () => {
    const broken = await listening(createTcpServer((socket) => socket.destroy()));
    try {
      const source = `http://127.0.0.1:${portOf(broken)}/small.gguf`;
      await assert.rejects(pull(source), {
        code: "upstream_failed",
        message:
          /stopped after 0 bytes and could not be resumed: the connection to 127\.0\.0\.1:\d+ broke: .*Run the same command again/,
      });
      assert.equal(retries.length, 4);
      assert.match(retries[0]!, /the connection to 127\.0\.0\.1:\d+ broke/);
    } finally {
      broken.close();
    }
  });
});
