/** Sends a fixed set of fuzzed inputs, and every input that caused a fault before. CONTRIBUTING.md describes fuzzing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { renderServer, runCampaign } from "./campaign.ts";
import { replayRegressions } from "./replay.ts";
import { renderTallies, type Finding } from "./tally.ts";

const seed = 20_261_122;
/** A number, not a duration, so that every machine sends the same inputs. */
const inputs = Number(process.env["SOUNDING_TEST_FUZZ_INPUTS"] ?? 3_000);
/** CPU time, so a busy machine does not matter; with room for slow processors. `npm run fuzz` has the real bound. */
const holdMs = 250;
const mostGrowthBytes = 192 * 1_048_576;
const again = ({ target, index }: Finding): string =>
  `npm run fuzz -- --seed ${seed} --only ${target} --from ${index} --inputs 1`;

test(
  "hostile inputs break no rule, and the other organization is served throughout",
  { timeout: 1_200_000 },
  async (context) => {
    const { tallies, findings, server } = await runCampaign({ seed, inputs, holdMs });
    for (const line of `${renderTallies(tallies)}\n${renderServer(server!)}`.split("\n")) context.diagnostic(line);
    assert.deepEqual(
      findings.map((finding) => `${finding.target} #${finding.index}: ${finding.what} (${again(finding)})`),
      [],
    );
    assert.ok(
      tallies.every((tally) => tally.inputs > 0),
      "every target had inputs",
    );
    const { neighbor, usedBefore, usedAfter, restarts } = server!;
    const refused = [...neighbor.refused.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(
      neighbor.requests > 20 && refused <= neighbor.requests / 50,
      `${refused} of ${neighbor.requests} were refused`,
    );
    assert.ok(usedAfter - usedBefore < mostGrowthBytes, `memory grew from ${usedBefore} to ${usedAfter} bytes`);
    assert.equal(restarts, 0);
  },
);

describe("an input that caused a fault before causes none now", { timeout: 1_200_000 }, () => {
  test("each of them", async (context) => {
    for await (const { regression, finding } of replayRegressions(holdMs)) {
      await context.test(`${regression.target}: ${regression.name}`, () => assert.equal(finding?.what, undefined));
    }
  });
});
