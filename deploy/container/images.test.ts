/**
 * Builds both images and runs them as docs/operate/containers.md advises: `npm run test:images`. Takes five minutes and 6 GB,
 * needs root and Debian's buildah, podman, mmdebstrap and runc.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beforeTests } from "../../test/support/hooks.ts";
import { createContainerTools, missingProgram, targets, type ContainerTools, type Target } from "./container-tools.ts";

const missing = await missingProgram();
if (missing !== undefined) throw new Error(`The images cannot be built here: ${missing} is missing.`);

let folder: string;
let tools: ContainerTools;

beforeTests(async (stack) => {
  folder = await mkdtemp(join(tmpdir(), "sounding-images-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  tools = createContainerTools(folder);
  stack.defer(async () => void (await tools.podman("system", "reset", "--force")));
  await tools.buildImages();
});

interface Started extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  podman(...args: readonly string[]): Promise<string>;
  readonly container: string;
}

/** Starts a server with a new volume, and waits until its health check passes. */
async function start(target: Target, options: readonly string[] = []): Promise<Started> {
  const port = await freePort();
  const volume = `data-${target}-${port}`;
  const settings = [`--volume=${volume}:/var/lib/sounding`, `--env=SOUNDING_LISTEN_PORT=${port}`, ...options];
  const container = await tools.start(target, settings);
  for (;;) {
    const { Running: isRunning } = JSON.parse(
      await tools.podman("inspect", "--format", "{{json .State}}", container),
    ) as { Running: boolean };
    assert.ok(isRunning, await tools.podman("logs", container).catch(String));
    const isHealthy = await tools.podman("healthcheck", "run", container).then(
      () => true,
      () => false,
    );
    if (isHealthy) break;
  }
  const key = (await tools.podman("exec", container, "sounding", "whoami", "--print-key")).trim();
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    container,
    podman: tools.podman,
    async [Symbol.asyncDispose]() {
      await tools.podman("rm", "--force", "--time", "30", container);
      await tools.podman("volume", "rm", "--force", volume);
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

async function call({ url, key }: Started, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

async function ask(server: Started, model: string): Promise<string> {
  const completion = await call(server, "/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "Hello!" }],
  });
  return (completion as { choices: [{ message: { content: string } }] }).choices[0].message.content;
}

/** Stops the container as a service manager does, and checks that the server ended by itself. */
async function stop({ podman, container }: Started): Promise<void> {
  await podman("stop", "--time", "30", container);
  const state = JSON.parse(await podman("inspect", "--format", "{{json .State}}", container)) as { ExitCode: number };
  assert.equal(state.ExitCode, 0);
}

const isReady = async ({ url }: Started): Promise<boolean> => {
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: Record<string, string> };
  return checks["telemetry_store"] === "ok";
};

describe("the images", { timeout: 1_800_000 }, () => {
  for (const target of targets) {
    test(`${target} declares a user without rights, one volume, its port, a health check and its version`, async () => {
      const [image] = JSON.parse(await tools.podman("inspect", tools.imageOf(target))) as [
        { Size: number; Healthcheck: { Test: string[] }; Config: Record<string, unknown> },
      ];
      console.log(`# ${target}: ${Math.round(image.Size / 1e6)} MB`);
      const { User: user, Volumes: volumes, ExposedPorts: ports, StopSignal: signal, Labels: labels } = image.Config;
      assert.deepEqual(
        [user, Object.keys(volumes as object), Object.keys(ports as object), signal],
        ["10001:10001", ["/var/lib/sounding"], ["4141/tcp"], "SIGTERM"],
      );
      assert.deepEqual(image.Healthcheck.Test, ["CMD", "node", "/opt/sounding/health-check.js"]);
      assert.equal((labels as Record<string, string>)["org.opencontainers.image.licenses"], "Apache-2.0");
    });
  }

  test("sounding answers with the trial model, keeps telemetry over a restart, and stops by itself", async () => {
    await using server = await start("sounding");
    assert.match(await ask(server, "sounding-trial"), /\w/);
    while (!(await isReady(server)));
    const record = { timeUnixNano: `${Date.now()}000000`, body: { stringValue: "sent to a container" } };
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "probe" } }] };
    await call(server, "/v1/logs", { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] });
    const query = `/loki/api/v1/query_range?query=${encodeURIComponent('{service_name="probe"}')}`;
    const lines = async (): Promise<string[]> => {
      const { data } = (await call(server, query)) as { data: { result: { values: [string, string][] }[] } };
      return data.result.flatMap(({ values }) => values.map(([, line]) => line));
    };
    assert.deepEqual(await lines(), ["sent to a container"]);
    await stop(server);
    await server.podman("start", server.container);
    while (
      !(await fetch(`${server.url}/readyz`).then(
        () => isReady(server),
        () => false,
      ))
    );
    assert.deepEqual(await lines(), ["sent to a container"]);
  });

  test("sounding speaks and transcribes without a download", async () => {
    await using server = await start("sounding");
    const { data } = (await call(server, "/v1/models")) as { data: { id: string }[] };
    assert.deepEqual(data.map(({ id }) => id).toSorted(), ["espeak-ng", "flite", "pocketsphinx", "sounding-trial"]);
    const speech = await fetch(`${server.url}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "flite", voice: "rms", input: "Good morning.", response_format: "wav" }),
    });
    const form = new FormData();
    form.set("model", "pocketsphinx");
    form.set("file", await speech.blob(), "speech.wav");
    const transcription = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}` },
      body: form,
    });
    assert.match(JSON.stringify(await transcription.json()), /good morning/i);
  });

  test("slim serves a remote model with a configuration that is mounted, and has neither store nor local engines", async () => {
    const upstream = createServer((_request, response) => {
      const choice = { index: 0, message: { role: "assistant", content: "from afar" }, finish_reason: "stop" };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices: [choice] }),
      );
    });
    await using _upstream = await listening(upstream);
    const file = join(folder, "sounding.yaml");
    const { port } = upstream.address() as AddressInfo;
    const engine = `{ type: openai_compatible, base_url: "http://127.0.0.1:${port}/v1" }`;
    await writeFile(
      file,
      `telemetry: { enabled: false }\nengines: { far: ${engine} }\nmodels: { remote: { targets: [{ engine: far, model: m }] } }\n`,
    );
    await using server = await start("slim", [`--volume=${file}:/etc/sounding/sounding.yaml:ro`]);
    assert.equal(await ask(server, "remote"), "from afar");
    const installed = await server.podman("exec", server.container, "ls", "/opt/sounding/node_modules");
    assert.doesNotMatch(installed, /chdb|llama|sherpa/);
    await assert.rejects(server.podman("exec", server.container, "touch", "/tmp/file"), /Read-only file system/);
    await stop(server);
  });
});

async function listening(server: Server): Promise<AsyncDisposable> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close").catch(() => {});
    },
  };
}
