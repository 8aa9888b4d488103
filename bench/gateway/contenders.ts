/** The gateways under test, each started in front of the same upstream: Sounding and those it is compared with. */
import { execFileSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../free-ports.ts";
import { firstLine, start } from "../processes.ts";
import { apiPaths, type Api } from "./apis.ts";

export interface Contender {
  readonly name: string;
  readonly port: number;
  /** Undefined for the upstream itself. */
  readonly child: ChildProcess | undefined;
  /** Whether it takes other APIs than chat completions, and whether it also translates them. */
  readonly apis: "chat" | "passed_through" | "translated";
  /** Path of an API in a mode. */
  path(mode: string, api?: Api): string;
  /** Model to request in a mode. */
  model(mode: string, options?: { readonly isNative?: boolean }): string;
  headers(mode: string): Readonly<Record<string, string>>;
}

export interface Setting {
  readonly upstreamPort: number;
  /** An empty folder for temporary files. */
  readonly directory: string;
}

const root = join(import.meta.dirname, "../..");
const upstreamPath = (mode: string, api: Api = "chat"): string => `/${mode}${apiPaths[api]}`;
const plain = { apis: "chat", path: upstreamPath, model: () => "bench", headers: () => ({}) } as const;

export async function startUpstream(): Promise<{ child: ChildProcess; port: number }> {
  const child = start({ command: [process.execPath, join(import.meta.dirname, "mock-upstream.ts")], measured: false });
  return { child, port: Number(await firstLine(child)) };
}

export function direct({ upstreamPort }: Setting): Contender {
  return { ...plain, name: "upstream directly", port: upstreamPort, child: undefined };
}

export async function startBareRelay({ upstreamPort }: Setting): Promise<Contender> {
  const script = join(import.meta.dirname, "bare-relay.ts");
  const command = [process.execPath, script, `http://127.0.0.1:${upstreamPort}`] as const;
  const child = start({ command: [...command], measured: true });
  const apis = "passed_through";
  return { ...plain, apis, name: "bare node:http + undici relay", port: Number(await firstLine(child)), child };
}

export interface SoundingOptions {
  /** Whether it records its calls in the embedded store, as a fresh installation does. */
  readonly telemetry: boolean;
  /** Command line flags of Node. */
  readonly flags?: readonly string[];
  /** Processes that serve requests; 1 if absent. */
  readonly workers?: number;
}

/** Configured like a fresh installation: keys, limits, routing, log, metrics, and telemetry if requested. */
export async function startSounding(setting: Setting, { telemetry, flags = [], workers = 1 }: SoundingOptions) {
  const { upstreamPort } = setting;
  const directory = join(setting.directory, `${telemetry ? "with" : "without"}-telemetry-${workers}`);
  mkdirSync(directory);
  const modes = ["batch", "paced", "burst", "steady", "idle"];
  const settings = {
    // Prompts of 20 MB are above the default.
    server: { port: 0, workers, max_json_body_bytes: 33_554_432 },
    storage: { data_dir: join(directory, "sounding-data") },
    limits: { key: { requests_per_minute: 1e9, tokens_per_minute: 1e12, concurrent_requests: 100_000 } },
    discovery: { enabled: false },
    telemetry: { enabled: telemetry },
    engines: Object.fromEntries(
      modes.flatMap((mode) => {
        const base_url = `http://127.0.0.1:${upstreamPort}/${mode}/v1`;
        const engine = { type: "openai_compatible", base_url, max_connections: 4096 };
        return [
          [mode, engine],
          [`${mode}-native`, { ...engine, wires: ["responses", "messages"] }],
        ];
      }),
    ),
    models: Object.fromEntries(
      modes
        .flatMap((mode) => [mode, `${mode}-native`])
        .map((engine) => [`bench-${engine}`, { targets: [{ engine, model: "bench" }] }]),
    ),
  };
  const file = join(directory, "sounding.yaml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings, null, 2));
  const child = start({
    command: [process.execPath, ...flags, join(root, "packages/cli/src/main.ts"), "--json", "serve", "--config", file],
    errorFile: openSync(join(directory, "sounding.log"), "w"),
    measured: true,
  });
  const { url, firstStart } = JSON.parse(await jsonObject(child)) as { url: string; firstStart: { key: string } };
  return {
    name: telemetry ? "**Sounding**, recording its calls" : "**Sounding**",
    port: Number(new URL(url).port),
    child,
    apis: "translated",
    path: (_mode, api = "chat") => apiPaths[api],
    model: (mode, { isNative } = {}) => `bench-${mode}${isNative === true ? "-native" : ""}`,
    headers: () => ({ authorization: `Bearer ${firstStart.key}` }),
  } satisfies Contender;
}

/** The first JSON object that the process prints, on one line or several. */
async function jsonObject(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    text += piece.toString();
    try {
      JSON.parse(text);
      return text;
    } catch {
      // Incomplete so far.
    }
  }
  throw new Error("Sounding ended before it was ready.");
}

const portkeyPackage = {
  private: true,
  dependencies: { "@portkey-ai/gateway": "1.15.2" },
  // Every stream fails with later versions: https://github.com/Portkey-AI/gateway/issues/1389
  overrides: { hono: "4.9.7", "@hono/node-server": "1.13.5" },
};

/**
 * Installs Portkey's gateway from npm into `folder` unless it is already installed.
 * @returns undefined if it is not available
 */
export async function startPortkey({ upstreamPort }: Setting, folder: string): Promise<Contender | undefined> {
  const script = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!existsSync(script)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify(portkeyPackage));
    try {
      execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
        cwd: folder,
        stdio: "inherit",
      });
    } catch {
      return undefined;
    }
  }
  const [port] = (await freePorts(1)) as [number];
  const child = start({ command: [process.execPath, script, `--port=${port}`, "--headless"], measured: true });
  child.stdout?.resume();
  await accepting(port, child);
  return {
    name: "Portkey gateway 1.15.2",
    apis: "chat",
    port,
    child,
    path: () => "/v1/chat/completions",
    model: () => "bench",
    headers: (mode) => ({
      authorization: "Bearer none",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/${mode}/v1`,
    }),
  };
}

const liteLlmVersion = "1.106.2";

/**
 * Installs LiteLLM's proxy from PyPI into `folder` unless it is already installed, and starts it as its documentation recommends for
 * production: one worker per core, logs of errors only. https://docs.litellm.ai/docs/proxy/prod
 * @returns undefined if it is not available
 */
export async function startLiteLlm(
  { directory, upstreamPort }: Setting,
  folder: string,
): Promise<Contender | undefined> {
  const program = join(folder, "bin/litellm");
  if (!existsSync(program)) {
    try {
      execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
      const wanted = `litellm[proxy]==${liteLlmVersion}`;
      execFileSync(join(folder, "bin/pip"), ["install", "--quiet", wanted], { stdio: "inherit" });
    } catch {
      return undefined;
    }
  }
  const file = join(directory, "litellm.json");
  const modes = ["batch", "paced", "burst"];
  const models = modes.map((mode) => ({
    model_name: `bench-${mode}`,
    litellm_params: {
      model: "openai/bench",
      api_base: `http://127.0.0.1:${upstreamPort}/${mode}/v1`,
      api_key: "none",
    },
  }));
  // JSON is YAML.
  writeFileSync(
    file,
    JSON.stringify({ model_list: models, litellm_settings: { set_verbose: false, request_timeout: 600 } }),
  );
  const [port] = (await freePorts(1)) as [number];
  const key = `sk-${randomBytes(32).toString("hex")}`;
  const child = start({
    command: [program, "--config", file, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"],
    env: {
      LITELLM_LOG: "ERROR",
      LITELLM_MODE: "PRODUCTION",
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      LITELLM_MASTER_KEY: key,
    },
    errorFile: openSync(join(directory, "litellm.log"), "w"),
    measured: true,
  });
  child.stdout?.resume();
  await accepting(port, child);
  return {
    name: `LiteLLM's proxy ${liteLlmVersion}`,
    apis: "chat",
    port,
    child,
    path: () => "/v1/chat/completions",
    model: (mode) => `bench-${mode}`,
    headers: () => ({ authorization: `Bearer ${key}` }),
  };
}

/** @returns undefined if nginx is not installed */
export async function startNginx({ upstreamPort, directory }: Setting): Promise<Contender | undefined> {
  const program = "/usr/sbin/nginx";
  if (!existsSync(program)) return undefined;
  const [port] = (await freePorts(1)) as [number];
  const file = join(directory, "nginx.conf");
  writeFileSync(file, nginxConfiguration(directory, { port, upstreamPort }));
  const child = start({ command: [program, "-e", join(directory, "nginx-error.log"), "-c", file], measured: true });
  await accepting(port, child);
  return { ...plain, name: "nginx `proxy_pass`", port, child };
}

function nginxConfiguration(directory: string, { port, upstreamPort }: { port: number; upstreamPort: number }): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(directory, `nginx-${name}`)};`,
  );
  return `daemon off; master_process off; worker_processes 1; pid ${join(directory, "nginx.pid")};
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; ${temporary.join(" ")}
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; client_body_buffer_size 64k;
    }
  }
}
`;
}

/**
 * Waits until the port accepts connections.
 * @throws if the process exits first, or after two minutes
 */
async function accepting(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (performance.now() < deadline && child.exitCode === null) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: "127.0.0.1" }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`${child.spawnargs.join(" ")} took no connections.`);
}
