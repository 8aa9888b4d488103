/** Configuration files: problems are reported, never thrown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { resolveConfig } from "../../../packages/server/src/config/load-config.ts";
import { formatProblem } from "../../../packages/server/src/config/problem.ts";
import { parseYaml } from "../../../packages/server/src/config/yaml-file.ts";
import { repository } from "../../support/served-process.ts";
import { hostileString } from "../hostile-values.ts";
import { mutateText } from "../mutate-bytes.ts";
import type { DirectTarget } from "../target.ts";

const fragments = [
  "\n",
  ":",
  "- ",
  "{",
  "}",
  "[",
  "&a ",
  "*a",
  "!!binary ",
  "!!js/function ",
  "? ",
  "|\n ",
  "<<: *a",
  "${",
  "${HOME}",
  "~",
  "\t",
  "\0",
  "0x10",
  "1e999",
  "#",
  "'",
  '"',
  "__proto__: {}",
  "server:",
  "  port: -1",
  "engines:",
];
let example = "";

export const configTarget: DirectTarget = {
  kind: "direct",
  name: "config",
  perSecond: 600,
  // A file is read once, at the start, by the server's operator.
  holdMs: 1000,
  async prepare() {
    example = readFileSync(join(repository, "sounding.example.yaml"), "utf8");
  },
  generate(random) {
    const start = random.below(example.length);
    const text = random.chance(0.5) ? example : example.slice(start, start + 1 + random.size(2000));
    return Buffer.from(mutateText(text, random, random.chance(0.3) ? [hostileString(random, 2000)] : fragments));
  },
  run(input) {
    const file = parseYaml("fuzz.yaml", Buffer.from(input).toString("utf8"));
    const { config, problems } = resolveConfig({ file, env: {} });
    for (const problem of problems) formatProblem(problem);
    if (config === undefined && problems.length === 0) throw new Error("neither a configuration nor a problem");
    return problems.length === 0 ? "loaded" : "refused";
  },
};
