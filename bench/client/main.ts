/**
 * Compares the cost of a small call in the synchronous client with the asynchronous client: `npm run bench:client`.
 * Both call the same raw-socket server sequentially and take turns, so that other load on the machine affects both
 * equally.
 */
import { fileURLToPath } from "node:url";
import { AsyncSounding } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import { describeMachine, firstLine, start, stop } from "../processes.ts";
import { quantile } from "../quantile.ts";

const rounds = process.argv.includes("--quick") ? 9 : 25;
const callsPerRound = 100;
const warmUpCalls = 1_000;
/** Target for the synchronous client, as a multiple of the asynchronous one. */
const aim = 1.5;

const upstream = start({
  command: [process.execPath, fileURLToPath(new URL("../gateway/mock-upstream.ts", import.meta.url))],
  measured: false,
});
try {
  const options = { apiKey: "sk-bench", baseUrl: `http://127.0.0.1:${await firstLine(upstream)}/batch`, maxRetries: 0 };
  const [asynchronous, synchronous] = [new AsyncSounding(options), new Sounding(options)];
  const question = { model: "m", messages: [{ role: "user" as const, content: "What is a fathom?" }] };

  const runAsync = async (calls: number): Promise<void> => {
    for (let call = 0; call < calls; call += 1) await asynchronous.chat.completions.create(question);
  };
  const runSync = async (calls: number): Promise<void> => {
    for (let call = 0; call < calls; call += 1) synchronous.chat.completions.create(question);
  };

  await runAsync(warmUpCalls);
  await runSync(warmUpCalls);
  const microsAsync: number[] = [];
  const microsSync: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    microsAsync.push(await microsACall(runAsync));
    microsSync.push(await microsACall(runSync));
  }
  const [mAsync, mSync] = [quantile(microsAsync, 0.5), quantile(microsSync, 0.5)];
  const ratios = microsSync.map((micros, round) => micros / microsAsync[round]!);
  process.stdout.write(`${describeMachine({ bound: false })}

|              | µs a call | × asynchronous |
| ------------ | --------: | -------------: |
| asynchronous | ${mAsync.toFixed(0)} | 1.00 |
| synchronous  | ${mSync.toFixed(0)} | ${quantile(ratios, 0.5).toFixed(2)} |

Aim: at most ${aim}. ${quantile(ratios, 0.5) <= aim ? "Reached." : "Missed."}
`);
} finally {
  await stop(upstream);
}

async function microsACall(run: (calls: number) => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await run(callsPerRound);
  return ((performance.now() - startMs) * 1_000) / callsPerRound;
}
