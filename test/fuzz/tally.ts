/** The results of a target's inputs: counts, the slowest, the longest hold, and the findings. */

/** An input that broke a rule, so that it can be saved and sent again. */
export interface Finding {
  readonly target: string;
  /** Its position in the sequence of the target's inputs; absent for inputs from files. */
  readonly index: number | undefined;
  readonly input: Uint8Array;
  readonly what: string;
}

interface Extreme {
  readonly value: number;
  readonly index: number;
}

export class Tally {
  readonly name: string;
  inputs = 0;
  elapsedMs = 0;
  readonly outcomes = new Map<string, number>();
  readonly findings: Finding[] = [];
  slowestMs: Extreme = { value: 0, index: -1 };
  longestHoldMs: Extreme = { value: 0, index: -1 };
  /** Holds above the bound that did not happen again when their inputs were sent alone. */
  unconfirmedHolds = 0;

  constructor(name: string) {
    this.name = name;
  }

  count(outcome: string, times = 1): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + times);
  }

  time(ms: number, index: number): void {
    if (ms > this.slowestMs.value) this.slowestMs = { value: ms, index };
  }

  hold(ms: number, index: number): void {
    if (ms > this.longestHoldMs.value) this.longestHoldMs = { value: ms, index };
  }
}

/** The tallies as a table for people. */
export function renderTallies(tallies: readonly Tally[]): string {
  const rows = tallies.map((tally) => [
    tally.name,
    String(tally.inputs),
    String(Math.round((tally.inputs * 1000) / Math.max(1, tally.elapsedMs))),
    `${tally.slowestMs.value.toFixed(0)} (#${tally.slowestMs.index})`,
    `${tally.longestHoldMs.value.toFixed(0)} (#${tally.longestHoldMs.index})`,
    String(tally.unconfirmedHolds),
    String(tally.findings.length),
    [...tally.outcomes]
      .toSorted(([, a], [, b]) => b - a)
      .map(([outcome, count]) => `${outcome} ${count}`)
      .join(", "),
  ]);
  const all = [
    ["target", "inputs", "per s", "slowest ms", "longest hold ms", "unconfirmed", "findings", "outcomes"],
    ...rows,
  ];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
