/** Reads the files of deploy/, and checks environments that they set. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { resolveConfig } from "../../packages/server/src/config/load-config.ts";
import { formatProblem } from "../../packages/server/src/config/problem.ts";
import { parseYaml } from "../../packages/server/src/config/yaml-file.ts";
import { repository } from "./served-process.ts";

export const readDeployed = (path: string): Promise<string> => readFile(join(repository, "deploy", path), "utf8");

export const containerfile = await readDeployed("container/Containerfile");

/** The variables that the images set. */
export const imageEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...(/^ENV (?<settings>(?:.*\\\n)*.*)$/m.exec(containerfile)?.groups?.["settings"] ?? "").matchAll(/(\w+)=(\S+)/g),
  ].map(([, name, value]) => [name!, value!]),
);

export async function readDeployedYaml<Type>(path: string): Promise<Type> {
  const { value, problems } = parseYaml(path, await readDeployed(path));
  assert.deepEqual(problems, []);
  return value as Type;
}

/** Fails unless the server accepts the environment, and knows every variable in it that looks like a setting. */
export function assertServerAccepts(env: Readonly<Record<string, string>>, yaml?: string): void {
  const file = yaml === undefined ? undefined : parseYaml("sounding.yaml", yaml);
  const { problems, warnings } = resolveConfig({ file, env });
  assert.deepEqual([problems.map(formatProblem), warnings], [[], []]);
}
