/** A run over all targets: their shares, the findings and the report. */
import { DirectRunner } from "./direct-runner.ts";
import { ServedRunner, type ServerReport } from "./served-runner.ts";
import type { Finding, Tally } from "./tally.ts";
import { targets } from "./targets/all.ts";
import type { AnyTarget } from "./target.ts";

export interface CampaignOptions {
  readonly seed: number;
  /** Of all targets together; replaces `seconds`. */
  readonly inputs?: number;
  readonly seconds?: number;
  /** Index of each target's first input. */
  readonly from?: number;
  readonly only?: readonly string[];
  readonly holdMs?: number;
  readonly concurrency?: number;
  /** Called for each finished target. */
  onTally?(tally: Tally): void;
}

export interface CampaignReport {
  readonly tallies: readonly Tally[];
  readonly findings: readonly Finding[];
  /** Absent if no server ran. */
  readonly server: ServerReport | undefined;
}

export const defaultHoldMs = 50;
const weightOf = ({ share = 1 }: AnyTarget): number => share;
const inputWeightOf = (target: AnyTarget): number => weightOf(target) * target.perSecond;

export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { seed, inputs, seconds = 60, from = 0, only, holdMs = defaultHoldMs, concurrency = 12 } = options;
  const chosen = targets.filter(({ name }) => only === undefined || only.includes(name));
  const total = chosen.reduce(
    (sum, target) => sum + (inputs === undefined ? weightOf(target) : inputWeightOf(target)),
    0,
  );
  const limitsOf = (target: AnyTarget) => ({
    from,
    most: inputs === undefined ? Infinity : Math.ceil((inputs * inputWeightOf(target)) / total),
    ms: inputs === undefined ? (seconds * 1000 * weightOf(target)) / total : Infinity,
  });
  const tallies: Tally[] = [];
  const add = (tally: Tally): void => {
    tallies.push(tally);
    options.onTally?.(tally);
  };
  let server: ServerReport | undefined;
  {
    await using runner = new ServedRunner({ seed, holdMs, concurrency });
    for (const target of chosen) if (target.kind === "served") add(await runner.run(target, limitsOf(target)));
    if (chosen.some(({ kind }) => kind === "served")) server = await runner.report();
  }
  await using direct = new DirectRunner({ seed, holdMs });
  for (const target of chosen) if (target.kind === "direct") add(await direct.run(target, limitsOf(target)));
  return { tallies, findings: tallies.flatMap(({ findings }) => findings), server };
}

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`;

/** The other organization's latency, and the memory in use. */
export function renderServer({ neighbor, ...server }: ServerReport): string {
  const refused = [...neighbor.refused].map(([status, count]) => `${status} ${count}`).join(", ") || "none";
  return `other organization: ${neighbor.requests} requests, p50 ${neighbor.p50Ms.toFixed(0)} ms, p99 ${neighbor.p99Ms.toFixed(0)} ms, slowest ${neighbor.slowestMs.toFixed(0)} ms, not 200: ${refused}
memory in use: ${megabytes(server.usedBefore)} before, ${megabytes(server.usedAfter)} after; resident: ${megabytes(server.rssBefore)} before, ${megabytes(server.rssAfter)} after, ${megabytes(server.rssPeak)} at most
longest hold of the server: ${server.longestHoldMs.toFixed(0)} ms of CPU with garbage collection; restarts: ${server.restarts}`;
}
