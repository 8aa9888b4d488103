/** `npm run fuzz`: runs every target with hostile inputs and reports the faults. CONTRIBUTING.md describes its use. */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { renderServer, runCampaign, defaultHoldMs } from "./campaign.ts";
import { saveFinding } from "./regressions.ts";
import { replayRegressions } from "./replay.ts";
import { renderTallies, type Finding } from "./tally.ts";
import { targets } from "./targets/all.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    inputs: { type: "string" },
    seconds: { type: "string" },
    from: { type: "string" },
    only: { type: "string", multiple: true },
    "hold-ms": { type: "string" },
    concurrency: { type: "string" },
    list: { type: "boolean" },
    regressions: { type: "boolean" },
  },
});

const number = (name: keyof typeof values): number | undefined => {
  const text = values[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new Error(`--${name} is ${String(text)}; expected an integer of at least 0.`);
  return value;
};
const printFinding = ({ target, index, input, what }: Finding): void => {
  const path = saveFinding({ target, input });
  print(
    `${target} #${index}: ${what}\n  ${path}\n  npm run fuzz -- --seed ${seed} --only ${target} --from ${index} --inputs 1\n`,
  );
};
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const seed = number("seed") ?? Date.now() % 2 ** 31;

if (values.list === true) {
  for (const { name, kind } of targets) print(`${name}  ${kind}`);
} else if (values.regressions === true) {
  for await (const { regression, outcome, finding } of replayRegressions(number("hold-ms"))) {
    print(`${regression.target}: ${regression.name}: ${finding?.what ?? outcome}`);
    if (finding !== undefined) process.exitCode = 1;
  }
} else {
  const unknown = values.only?.filter((name) => !targets.some((target) => target.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(", ")} is not a target; --list shows them.`);
  const holdMs = number("hold-ms") ?? defaultHoldMs;
  print(`seed ${seed}, bound on holds ${holdMs} ms of CPU, ${availableParallelism()} processors`);
  const inputs = number("inputs");
  const { tallies, findings, server } = await runCampaign({
    seed,
    holdMs,
    ...(inputs === undefined ? { seconds: number("seconds") ?? 120 } : { inputs }),
    from: number("from") ?? 0,
    concurrency: number("concurrency") ?? 12,
    ...(values.only === undefined ? {} : { only: values.only }),
    onTally: ({ name, inputs: count, findings: found }) => {
      print(`${name}: ${count} inputs, ${found.length} findings`);
      found.forEach(printFinding);
    },
  });
  print(`\n${renderTallies(tallies)}\n`);
  if (server !== undefined) print(`${renderServer(server)}\n`);
  for (const line of server?.faultLines.slice(0, 20) ?? []) print(line);
  print(`${tallies.reduce((sum, tally) => sum + tally.inputs, 0)} inputs, ${findings.length} findings`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
