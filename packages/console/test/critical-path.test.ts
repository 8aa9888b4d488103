/** The critical path, by the rule that docs/console/README.md describes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { criticalPath } from "../src/views/trace/critical-path.ts";
import { readTrace } from "../src/views/trace/trace-model.ts";
import { tempoTrace } from "./support/tempo-trace.ts";

/** The path as `name start-end`, in order of time. */
function pathOf(spans: Parameters<typeof tempoTrace>[0]): string[] {
  const model = readTrace(tempoTrace(spans));
  return [...criticalPath(model.spans, model.roots)]
    .flatMap(([index, segments]) => segments.map((segment) => ({ name: model.spans[index]!.name, ...segment })))
    .sort((left, right) => left.startNs - right.startNs)
    .map(({ name, startNs, endNs }) => `${name} ${startNs}-${endNs}`);
}

const root = { id: "01", name: "root", startNs: 0, endNs: 100 };

describe("the critical path", () => {
  test("of calls in sequence is each call, and the parent in between", () => {
    assert.deepEqual(
      pathOf([
        root,
        { id: "02", parent: "01", name: "a", startNs: 10, endNs: 40 },
        { id: "03", parent: "01", name: "b", startNs: 50, endNs: 90 },
        { id: "04", parent: "03", name: "c", startNs: 60, endNs: 80 },
      ]),
      ["root 0-10", "a 10-40", "root 40-50", "b 50-60", "c 60-80", "b 80-90", "root 90-100"],
    );
  });

  test("of parallel calls is the one that ends last", () => {
    assert.deepEqual(
      pathOf([
        root,
        { id: "02", parent: "01", name: "short", startNs: 10, endNs: 60 },
        { id: "03", parent: "01", name: "long", startNs: 20, endNs: 95 },
      ]),
      ["root 0-20", "long 20-95", "root 95-100"],
    );
  });

  test("cuts calls that run beyond their parent, and leaves out those that start after it", () => {
    assert.deepEqual(
      pathOf([
        root,
        { id: "02", parent: "01", name: "early", startNs: -20, endNs: 30 },
        { id: "03", parent: "01", name: "late", startNs: 70, endNs: 150 },
        { id: "04", parent: "01", name: "after", startNs: 120, endNs: 200 },
      ]),
      ["early 0-30", "root 30-70", "late 70-100"],
    );
  });

  test("has nothing of calls without a duration", () => {
    const spans = [root, { id: "02", parent: "01", name: "instant", startNs: 50, endNs: 50 }];
    assert.deepEqual(pathOf(spans), ["root 0-50", "root 50-100"]);
  });

  test("of several roots follows each of them", () => {
    assert.deepEqual(
      pathOf([
        { ...root, endNs: 40 },
        { id: "02", name: "next", startNs: 60, endNs: 100 },
        { id: "03", parent: "99", name: "meanwhile", startNs: 70, endNs: 90 },
      ]),
      ["root 0-40", "next 60-100"],
    );
  });

  test("covers the root exactly once, however its descendants overlap", () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 200; round += 1) {
      const spans = [{ id: "1", name: "1", startNs: 0, endNs: 1000 }];
      for (let id = 2; id < 30; id += 1) {
        const startNs = random(1_300) - 100;
        const parent = (1 + random(id - 1)).toString(16);
        spans.push({ id: id.toString(16), name: String(id), startNs, endNs: startNs + random(400), parent } as never);
      }
      const model = readTrace(tempoTrace(spans));
      const segments = [...criticalPath(model.spans, model.roots).values()].flat();
      segments.sort((left, right) => left.startNs - right.startNs);
      const rootSpan = model.byKey.get("0000000000000001")!;
      assert.equal(segments[0]!.startNs, rootSpan.startNs);
      assert.equal(segments.at(-1)!.endNs, rootSpan.endNs);
      for (const [index, { startNs }] of segments.entries()) {
        if (index > 0) assert.equal(startNs, segments[index - 1]!.endNs);
      }
    }
  });
});
