/** nginx and Caddy with the configurations of deploy/proxies/, in front of one server, on free ports. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { pathOf } from "./needs.ts";
import { repository } from "./served-process.ts";

const run = promisify(execFile);

export const proxyNames = ["nginx", "caddy"] as const;
export type ProxyName = (typeof proxyNames)[number];

export interface ReverseProxy extends AsyncDisposable {
  /** Its address with TLS, for a certificate that nobody has signed. */
  readonly url: string;
}

/** @param server the address of the server, such as 127.0.0.1:4141 */
export async function startProxy(name: ProxyName, server: string): Promise<ReverseProxy> {
  const folder = await mkdtemp(join(tmpdir(), `sounding-${name}-`));
  const port = await freePort();
  const prepared = await (name === "nginx" ? prepareNginx : prepareCaddy)(folder, port, server);
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    ...prepared.env,
  };
  const child = spawn(pathOf(name)!, prepared.args, { env, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  let output = "";
  child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
  const isOver = exited.then(() => true);
  while (!output.includes(prepared.readyLine)) {
    if (await Promise.race([once(child.stderr, "data").then(() => false), isOver]))
      throw new Error(`${name}: ${output}`);
  }
  // Caddy accepts connections before it has its certificate.
  while (!(await completesHandshake(port))) {
    if (child.exitCode !== null) throw new Error(`${name}: ${output}`);
  }
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Prepared {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it prints once it accepts connections. */
  readonly readyLine: string;
}

async function prepareNginx(folder: string, port: number, server: string): Promise<Prepared> {
  const key = join(folder, "key.pem");
  const certificate = join(folder, "certificate.pem");
  const subject = ["-subj", "/CN=localhost", "-days", "2"];
  await run("openssl", [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    key,
    "-out",
    certificate,
    ...subject,
  ]);
  const text = await readFile(join(repository, "deploy/proxies/nginx.conf"), "utf8");
  const site = text
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace(/listen \[::\]:443 .*/, "")
    .replaceAll("127.0.0.1:4141", server)
    .replace("/etc/ssl/sounding/fullchain.pem", certificate)
    .replace("/etc/ssl/sounding/privkey.pem", key);
  await writeFile(join(folder, "site.conf"), site);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  );
  const main = join(folder, "nginx.conf");
  await writeFile(
    main,
    `daemon off; pid ${join(folder, "pid")}; worker_processes 1; ${process.getuid?.() === 0 ? "user root;" : ""}
error_log stderr notice; events {} http { access_log off; ${temporary.join(" ")} include ${join(folder, "site.conf")}; }\n`,
  );
  return { args: ["-c", main, "-p", folder, "-e", "stderr"], env: {}, readyLine: "start worker process" };
}

async function prepareCaddy(_folder: string, port: number, server: string): Promise<Prepared> {
  const env = {
    // Nothing on the machine changes: no certificate is trusted, port 80 and the administration's port are not used.
    CADDY_GLOBAL_OPTIONS: "skip_install_trust\nadmin off\nauto_https disable_redirects",
    SOUNDING_SITE: `https://127.0.0.1:${port}`,
    SOUNDING_SERVERS: server,
    SOUNDING_GRPC_SERVERS: `h2c://${server}`,
  };
  const args = ["run", "--config", join(repository, "deploy/proxies/Caddyfile"), "--adapter", "caddyfile"];
  return { args, env, readyLine: "serving initial configuration" };
}

async function completesHandshake(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  const isComplete = await once(socket, "secureConnect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isComplete;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
