/** Resends every input that caused a fault before. */
import { defaultHoldMs } from "./campaign.ts";
import { DirectRunner } from "./direct-runner.ts";
import { regressions, type Regression } from "./regressions.ts";
import { ServedRunner } from "./served-runner.ts";
import type { Finding } from "./tally.ts";
import { targets } from "./targets/all.ts";

export interface Replay {
  readonly regression: Regression;
  readonly outcome: string;
  readonly finding: Finding | undefined;
}

/** Sequentially; those for the server on one server. */
export async function* replayRegressions(holdMs = defaultHoldMs): AsyncGenerator<Replay> {
  await using served = new ServedRunner({ seed: 0, holdMs, concurrency: 1 });
  await using direct = new DirectRunner({ seed: 0, holdMs });
  for (const regression of regressions()) {
    const target = targets.find(({ name }) => name === regression.target);
    if (target === undefined)
      throw new Error(`The regression ${regression.name} is for ${regression.target}, which is no target.`);
    const input = regression.read();
    const tally = target.kind === "served" ? await served.replay(target, input) : await direct.replay(target, input);
    const [outcome = "none"] = tally.outcomes.keys();
    const other =
      regression.outcome === undefined || regression.outcome === outcome
        ? undefined
        : `came to ${outcome}, not ${regression.outcome}`;
    const finding =
      tally.findings[0] ??
      (other === undefined ? undefined : { target: target.name, index: undefined, input, what: other });
    yield { regression, outcome, finding };
  }
}
