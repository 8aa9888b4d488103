/** Python packages of contenders, in a virtual environment in the temporary folder, which the next run uses again. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type PythonPackages =
  | { readonly python: string; readonly reason?: undefined }
  | { readonly python?: undefined; /** Why they cannot be used. */ readonly reason: string };

/** @param packages with their versions */
export function installPythonPackages(packages: readonly string[]): PythonPackages {
  const name = createHash("sha256").update(packages.join()).digest("hex").slice(0, 12);
  const directory = join(tmpdir(), `sounding-bench-python-${name}`);
  const python = join(directory, "bin/python");
  const mark = join(directory, "installed.txt");
  if (existsSync(mark)) return { python };
  console.error(`Installing ${packages.join(", ")} in ${directory}`);
  for (const [program, ...words] of [
    ["python3", "-m", "venv", "--clear", directory],
    [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages],
  ] as const) {
    const { status, stderr, error } = spawnSync(program, words, { encoding: "utf8" });
    if (status === 0) continue;
    const reason = error?.message ?? stderr.trim().split("\n").at(-1) ?? "unknown";
    return { reason: `${packages.join(", ")} cannot be installed: ${reason}` };
  }
  writeFileSync(mark, packages.join("\n"));
  return { python };
}

/** The folder of an installed package's module. */
export function pythonModuleFolder(python: string, module: string): string {
  const script =
    "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).submodule_search_locations[0])";
  return execFileSync(python, ["-c", script, module], { encoding: "utf8" }).trim();
}
