/** The samples of the comparison with Prometheus: what an application sends by OTLP, and the same under Prometheus' names. */
import type { PrometheusSeries } from "../support/prometheus-server.ts";
import type { PointRow, SeriesRow } from "./telemetry-rows.ts";

export interface ComparedSamples {
  readonly otlp: readonly SeriesRow[];
  readonly prometheus: readonly PrometheusSeries[];
}

const scrapeMs = 15_000;
const count = 480;
const bounds = [0.1, 0.5, 1, 2.5];

/**
 * Two hours of samples that end at a time. None is on a whole second, so that no window's edge meets a sample, where
 * Prometheus 2 and 3 differ. No start timestamps, which Prometheus' blocks cannot store.
 */
export function comparedSamples(endMs: number): ComparedSamples {
  const otlp: SeriesRow[] = [];
  const prometheus: PrometheusSeries[] = [];
  const times = (phase: number): number[] =>
    Array.from({ length: count }, (_, index) => endMs - (count - index) * scrapeMs + ((phase * 1913) % 14_000) + 137);
  const identity = (instance: string): Pick<SeriesRow, "service" | "project" | "resource"> => ({
    service: "shop",
    project: "web",
    resource: { "service.name": "shop", "service.instance.id": instance },
  });
  const labels = (instance: string, own: Record<string, string>): Record<string, string> => ({
    job: "shop",
    instance,
    service_name: "shop",
    project_name: "web",
    ...own,
  });
  const addValues = (
    row: Pick<SeriesRow, "metric" | "type" | "monotonic" | "unit">,
    options: { name: string; instance: string; own: Record<string, string>; samples: [number, number][] },
  ): void => {
    const { instance, name, own, samples } = options;
    const points = samples.map(([timeMs, value]): PointRow => ({ timeMs, value }));
    otlp.push({ ...row, ...identity(instance), attributes: own, points });
    prometheus.push({ name, labels: labels(instance, own), samples });
  };

  let phase = 0;
  for (const instance of ["i1", "i2"]) {
    for (const route of ["/a", "/b", "/c"]) {
      for (const code of ["200", "500"]) {
        const random = randomNumbers((phase += 1));
        let value = 10_000 + Math.floor(random() * 1000);
        // If a window begins without samples and the first one is small, Prometheus 3 extrapolates differently from 2.
        const mayMissSamples = phase % 2 === 1;
        const samples = times(phase).flatMap((timeMs, index): [number, number][] => {
          value += Math.floor(random() * (code === "200" ? 40 : 4));
          if (random() < 0.004) value = mayMissSamples ? Math.floor(value / 2) : Math.floor(random() * 5);
          // One series begins in the middle, one ends there, one pauses for half an hour, some miss single samples.
          const isAbsent =
            (phase === 3 && index < 200) || (phase === 6 && index > 260) || (phase === 9 && index > 100 && index < 220);
          return isAbsent || (mayMissSamples && random() < 0.05) ? [] : [[timeMs, value]];
        });
        addValues(
          { metric: "http.requests", type: "sum", monotonic: true },
          { name: "http_requests_total", instance, own: { route, code }, samples },
        );
      }
    }
  }
  for (const shard of ["1", "2", "3", "4", "5"]) {
    const random = randomNumbers((phase += 1));
    let value = random() * 50;
    const samples = times(phase).map((timeMs): [number, number] => [timeMs, (value += random() * 4 - 2)]);
    const own = { shard, zone: Number(shard) % 2 === 0 ? "east" : "west" };
    addValues({ metric: "queue.length", type: "gauge" }, { name: "queue_length", instance: "i1", own, samples });
    const limits = samples.map(([timeMs]): [number, number] => [timeMs, Number(shard) * 10]);
    addValues(
      { metric: "queue.limit", type: "gauge" },
      { name: "queue_limit", instance: "i1", own: { shard }, samples: limits },
    );
  }
  const oddities = [Number.NaN, Infinity, -Infinity, 0, -1, 1e-300, 1e100, 2.5];
  for (const kind of ["any", "finite"]) {
    const random = randomNumbers((phase += 1));
    const choices = kind === "any" ? oddities : oddities.slice(3);
    const samples = times(phase).map((timeMs): [number, number] => [
      timeMs,
      choices[Math.floor(random() * choices.length)]!,
    ]);
    addValues({ metric: "odd", type: "gauge" }, { name: "odd", instance: "i1", own: { kind }, samples });
  }
  for (const instance of ["i1", "i2"]) {
    const random = randomNumbers((phase += 1));
    const samples = times(phase).map((timeMs): [number, number] => [timeMs, Math.round(2e9 + random() * 1e8)]);
    addValues(
      { metric: "memory.usage", type: "gauge", unit: "By" },
      { name: "memory_usage_bytes", instance, own: {}, samples },
    );
    const role = instance === "i1" ? "leader" : "follower";
    addValues(
      { metric: "node.info", type: "gauge" },
      { name: "node_info", instance, own: { role }, samples: samples.map(([timeMs]) => [timeMs, 1]) },
    );
  }
  for (const instance of ["i1", "i2"]) {
    for (const route of ["/a", "/b"]) {
      const random = randomNumbers((phase += 1));
      const counts = bounds.map(() => 1000).concat(1000);
      let sum = 5000;
      const points = times(phase).map((timeMs): PointRow => {
        for (let seen = Math.floor(random() * 5); seen > 0; seen--) {
          const value = random() ** 3 * 4;
          sum += value;
          const bucket = bounds.findIndex((bound) => value <= bound);
          counts[bucket === -1 ? bounds.length : bucket]! += 1;
        }
        return { timeMs, sum, count: counts.reduce((a, b) => a + b), bounds, counts: [...counts] };
      });
      const own = { route };
      otlp.push({
        metric: "request.duration",
        type: "histogram",
        unit: "s",
        ...identity(instance),
        attributes: own,
        points,
      });
      const part = (suffix: string, more: Record<string, string>, value: (point: PointRow) => number): void => {
        const samples = points.map((point) => [point.timeMs, value(point)] as const);
        const name = `request_duration_seconds_${suffix}`;
        prometheus.push({ name, labels: labels(instance, { ...own, ...more }), samples });
      };
      for (const [index, le] of ["0.1", "0.5", "1", "2.5", "+Inf"].entries()) {
        part("bucket", { le }, (point) => point.counts!.slice(0, index + 1).reduce((a, b) => a + b));
      }
      part("count", {}, (point) => point.count!);
      part("sum", {}, (point) => point.sum!);
    }
  }
  return { otlp, prometheus };
}

/** Numbers from 0 to 1, the same in each run. https://en.wikipedia.org/wiki/Linear_congruential_generator */
function randomNumbers(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
