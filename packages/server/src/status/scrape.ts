/**
 * Renders the metrics for scrapes, which need no key: with cooperative yields, once for concurrent scrapes, and cached, so
 * that scrapes use at most a tenth of the main thread.
 */
import type { Registry } from "prom-client";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";

/** A response is cached this many times as long as it took. */
const cacheFactor = 9;
const maxCachedMs = 5000;

export interface Scrape {
  readonly text: string;
  readonly type: string;
}

export async function renderRegistry(registry: Registry): Promise<Scrape> {
  const yielder = new CooperativeYield();
  const pieces: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    pieces.push(await registry.getSingleMetricAsString(name));
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return { text: `${pieces.join("\n\n")}\n`, type: registry.contentType };
}

/**
 * @param produce renders the metrics
 * @param now milliseconds of a monotonic clock
 */
export function createScrape(
  produce: () => Promise<Scrape>,
  now: () => number = () => performance.now(),
): () => Promise<Scrape> {
  let latest: Promise<Scrape> | undefined;
  let cachedUntilMs = Infinity;

  async function render(): Promise<Scrape> {
    const startMs = now();
    try {
      return await produce();
    } finally {
      const endMs = now();
      cachedUntilMs = endMs + Math.min(maxCachedMs, (endMs - startMs) * cacheFactor);
    }
  }

  return () => {
    if (latest === undefined || now() >= cachedUntilMs) {
      cachedUntilMs = Infinity;
      latest = render();
    }
    return latest;
  };
}
