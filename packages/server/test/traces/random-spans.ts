/** Random spans, the same in every run. */
import { resourceSpans, type AttributeValues, type SpanSpec } from "./otlp-spans.ts";

let state = 20_261_123;
function random(count: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * count);
}

function pick<Item>(items: readonly Item[]): Item {
  return items[random(items.length)]!;
}

/** Values whose types and texts are close to each other. */
const values = ["a", "b", "", "5", "true", 5n, 5, 5.5, -1n, true, false, ["a", "b"], [5n], "x".repeat(1500)] as const;
const names = ["one", "two.b", "service.name", "three"];

function attributes(): AttributeValues {
  return Object.fromEntries(
    names.filter((name) => name !== "service.name" && random(2) === 0).map((name) => [name, pick(values)]),
  );
}

/** Traces of one to six spans, some without a root, over fifty minutes. */
export function randomSpans(startUnixNano: bigint): object[] {
  const origins = Array.from({ length: 6 }, (_, index) => ({
    resource: { ...(index === 0 ? {} : { "service.name": pick(["shop", "pay", "a"]) }), ...attributes() },
    scope: { name: pick(["lib", ""]), version: pick(["1", "2"]), attributes: attributes() },
    spans: [] as SpanSpec[],
  }));
  for (let trace = 1; trace <= 60; trace += 1) {
    const startNano = startUnixNano + BigInt(random(2_900_000)) * 1_000_000n;
    const count = 1 + random(6);
    for (let span = 1; span <= count; span += 1) {
      const id = (number: number): string =>
        `${trace.toString(16).padStart(8, "0")}${number.toString(16).padStart(8, "0")}`;
      pick(origins).spans.push({
        traceId: trace.toString(16).padStart(32, "0"),
        spanId: id(span),
        ...(span === 1 && random(8) > 0 ? {} : { parentSpanId: id(random(span)) }),
        name: pick(["get", "put", "a"]),
        kind: random(6),
        status: random(3),
        statusMessage: pick(["", "lost"]),
        startNano: startNano + BigInt(random(1000)) * 1_000_000n,
        durationNano: BigInt(pick([0, 1, 2, 3, 1_000_000, 1_500_000_000, 4_000_000_000])),
        attributes: attributes(),
        events: random(4) === 0 ? [{ name: pick(["exception", "log"]), afterNano: 5n, attributes: attributes() }] : [],
        links: random(6) === 0 ? [{ traceId: "f".repeat(32), spanId: "f".repeat(16), attributes: attributes() }] : [],
      });
    }
  }
  return origins.map(({ resource, scope, spans }) => resourceSpans(resource, { scope, spans }));
}
