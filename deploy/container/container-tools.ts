/**
 * Builds the images with buildah and runs them with podman, in a storage folder of their own, on a Debian that mmdebstrap
 * creates from packages: no image registry is needed. Needs root.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));

const programs = ["buildah", "podman", "mmdebstrap", "runc"] as const;
export const targets = ["sounding", "slim"] as const;
export type Target = (typeof targets)[number];

export interface ContainerTools {
  /** Builds both images. Prints what it does, because it takes minutes. */
  buildImages(): Promise<void>;
  imageOf(target: Target): string;
  podman(...args: readonly string[]): Promise<string>;
  /** Runs `podman run` as the documentation advises: unprivileged, with a read-only root file system. @returns the container */
  start(target: Target, options: readonly string[], command?: readonly string[]): Promise<string>;
}

/** A program that is missing, with the package to install. */
export async function missingProgram(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "root";
  for (const program of programs) {
    const { stdout } = await execute("sh", ["-c", `command -v ${program} || true`]);
    if (stdout.trim() === "") return `the Debian package ${program}`;
  }
  return undefined;
}

/** @param folder for images, containers and the base system; the caller removes it after `podman("system", "reset")` */
export function createContainerTools(folder: string): ContainerTools {
  const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--storage-driver", "overlay"];
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot" };
  const options = { env, cwd: repository, maxBuffer: 256 * 1024 * 1024 };
  const buildah = (...args: readonly string[]) => execute("buildah", [...storage, ...args], options);
  // runc runs where crun refuses the hybrid hierarchy of control groups.
  const podman = async (...args: readonly string[]): Promise<string> =>
    (await execute("podman", [...storage, "--runtime", "runc", ...args], options)).stdout;
  const imageOf = (target: Target): string => `localhost/sounding-test-${target}`;
  const base = "localhost/sounding-test-base";
  const tools = "localhost/sounding-test-tools";

  /** What debian:trixie-slim has: the essential packages and apt, without documentation and translations. */
  async function createBase(): Promise<void> {
    const archive = join(folder, "base.tar");
    const without = ["man", "locale", "doc"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
    const copyrights = "--dpkgopt=path-include=/usr/share/doc/*/copyright";
    const words = ["--quiet", "--variant=essential", "--include=apt,ca-certificates", ...without, copyrights];
    await execute("mmdebstrap", [...words, "trixie", archive], options);
    await podman("import", "--quiet", archive, base);
  }

  /** What Node's image has: this Node and this npm. */
  async function createTools(): Promise<void> {
    const context = join(folder, "tools");
    await mkdir(context, { recursive: true });
    await cp(process.execPath, join(context, "node"));
    const { stdout } = await execute("sh", ["-c", 'readlink -f "$(command -v npm)"']);
    await cp(dirname(dirname(stdout.trim())), join(context, "npm"), { recursive: true });
    // The certificates that this machine trusts, where npm's registry is behind a proxy.
    const certificates = process.env["NODE_EXTRA_CA_CERTS"];
    if (certificates !== undefined) await cp(certificates, join(context, "certificates.pem"), { dereference: true });
    const trust = ["COPY certificates.pem /", "ENV NODE_EXTRA_CA_CERTS=/certificates.pem"];
    const lines = [
      `FROM ${base}`,
      ...(certificates === undefined ? [] : trust),
      "COPY node /usr/local/bin/",
      "COPY npm /usr/local/lib/node_modules/npm",
      "RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm",
    ];
    await writeFile(join(context, "Containerfile"), `${lines.join("\n")}\n`);
    await buildah("build", "--quiet", "--tag", tools, context);
  }

  async function build(target: Target): Promise<void> {
    // npm's settings and cache of this machine, which the images do not contain.
    const npm = [`${homedir()}/.npmrc:/root/.npmrc:ro`, `${homedir()}/.npm:/root/.npm`];
    const volumes = npm.flatMap((volume) => (existsSync(volume.split(":", 1)[0]!) ? ["--volume", volume] : []));
    const bases = ["--build-arg", `BASE_IMAGE=${base}`, "--build-arg", `BUILD_IMAGE=${tools}`];
    const file = ["--file", "deploy/container/Containerfile", "--format", "docker", "--timestamp", "1700000000"];
    await buildah(
      "build",
      "--layers",
      "--target",
      target,
      "--tag",
      imageOf(target),
      ...bases,
      ...volumes,
      ...file,
      ".",
    );
  }

  return {
    imageOf,
    podman,
    async buildImages() {
      const step = async (name: string, run: () => Promise<void>): Promise<void> => {
        const start = performance.now();
        await run();
        console.log(`# ${name}: ${Math.round((performance.now() - start) / 1000)} s`);
      };
      await step("base system", createBase);
      await step("Node and npm", createTools);
      for (const target of targets) await step(`image ${target}`, () => build(target));
    },
    async start(target, options, command = []) {
      const unprivileged = [
        "--read-only",
        "--read-only-tmpfs=false",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
      ];
      // Without systemd, podman cannot repeat the health check; the test runs it.
      const here = [
        "--network=host",
        "--health-interval=disable",
        "--ulimit=nofile=4096:4096",
        "--ulimit=nproc=4096:4096",
      ];
      const words = ["run", "--detach", ...unprivileged, ...here, ...options, imageOf(target), ...command];
      return (await podman(...words)).trim();
    },
  };
}
