/**
 * Renders the metrics for scrapes that need no key: in slices, once for all that ask at the same time, and kept for a
 * while, so that nobody can use more than a tenth of the main thread by scraping.
 */
import type { Registry } from "prom-client";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";

/** A response is kept for so many times as long as it took. */
const keptFactor = 9;
const longestKeptMs = 5000;

export interface Scrape {
  readonly text: string;
  readonly type: string;
}

/** @param now milliseconds on a clock that does not jump */
export function createScrape(registry: Registry, now: () => number = () => performance.now()): () => Promise<Scrape> {
  let latest: Promise<Scrape> | undefined;
  let keptUntilMs = Infinity;

  async function render(): Promise<Scrape> {
    const startMs = now();
    try {
      const yielder = new CooperativeYield();
      const pieces: string[] = [];
      for (const { name } of registry.getMetricsAsArray()) {
        pieces.push(await registry.getSingleMetricAsString(name));
        if (yielder.isDue(longStep)) await yielder.yield();
      }
      return { text: `${pieces.join("\n\n")}\n`, type: registry.contentType };
    } finally {
      const endMs = now();
      keptUntilMs = endMs + Math.min(longestKeptMs, (endMs - startMs) * keptFactor);
    }
  }

  return () => {
    if (latest === undefined || now() >= keptUntilMs) {
      keptUntilMs = Infinity;
      latest = render();
    }
    return latest;
  };
}
