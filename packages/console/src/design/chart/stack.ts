/** Stacked series: each one's values plus those below it. The last series is at the bottom. */

export function stack(series: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const stacked: (number | null)[][] = [];
  let below: readonly (number | null)[] | undefined;
  for (const values of [...series].reverse()) {
    const above = values.map((value, index) => {
      const under = below?.[index] ?? null;
      return value === null && under === null ? null : (value ?? 0) + (under ?? 0);
    });
    stacked.unshift(above);
    below = above;
  }
  return stacked;
}
