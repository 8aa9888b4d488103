/**
 * Finds the browser that tests of the console run in. It comes with npm as a compressed headless shell (`@sparticuz/chromium`),
 * so that every machine tests the same one. Other systems, and SOUNDING_TEST_CHROMIUM, use an installed Chromium.
 */
import { accessSync, constants, createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createBrotliDecompress } from "node:zlib";

export interface Chromium {
  readonly executablePath: string;
  /** Variables that it needs beside those of the test. */
  readonly env: Readonly<Record<string, string>>;
}

const installed = [
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const compressed = fileURLToPath(new URL("../bin", import.meta.resolve("@sparticuz/chromium")));
const extracted = fileURLToPath(new URL("../../../../node_modules/.cache/chromium-153.0.0", import.meta.url));

const hasPackage = process.platform === "linux" && process.arch === "x64" && existsSync(compressed);

/** An installed browser; undefined if the npm package is used or there is none. */
function installedChromium(): string | undefined {
  return process.env["SOUNDING_TEST_CHROMIUM"] ?? (hasPackage ? undefined : installed.find(isProgram));
}

export function hasChromium(): boolean {
  return hasPackage || installedChromium() !== undefined;
}

/** @throws Error if this machine has none */
export async function findChromium(): Promise<Chromium> {
  const executablePath = installedChromium();
  if (executablePath !== undefined) return { executablePath, env: {} };
  if (!hasPackage) throw new Error("There is no Chromium: set SOUNDING_TEST_CHROMIUM to the path of one.");
  if (!existsSync(extracted)) await extractPackage();
  return {
    executablePath: join(extracted, "chromium"),
    // Libraries and a font that a bare machine does not have.
    env: { LD_LIBRARY_PATH: join(extracted, "lib"), FONTCONFIG_FILE: join(extracted, "fonts.conf") },
  };
}

/** Other processes may do the same at the same time: the folder appears when it is complete. */
async function extractPackage(): Promise<void> {
  // Once per machine: most files that ask for the browser do not need it.
  const { extract } = await import("tar");
  await mkdir(dirname(extracted), { recursive: true });
  const folder = await mkdtemp(`${extracted}-`);
  try {
    await pipeline(
      createReadStream(join(compressed, "chromium.br")),
      createBrotliDecompress(),
      createWriteStream(join(folder, "chromium"), { mode: 0o755 }),
    );
    for (const name of ["al2023", "fonts"]) {
      const archive = createReadStream(join(compressed, `${name}.tar.br`));
      await pipeline(archive, createBrotliDecompress(), extract({ cwd: folder }));
    }
    await writeFile(join(folder, "fonts.conf"), fontConfiguration(join(extracted, "fonts")));
    await rename(folder, extracted);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(extracted)) throw error;
  }
}

/** https://www.freedesktop.org/software/fontconfig/fontconfig-user.html */
function fontConfiguration(folder: string): string {
  const text = folder.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<?xml version="1.0"?>\n<fontconfig><dir>${text}</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
