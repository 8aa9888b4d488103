/** Traces as the view reads them: trees of spans that senders can get wrong in many ways. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readTrace, type TraceModel } from "../src/views/trace/trace-model.ts";
import { hexId } from "../src/views/trace/tempo-json.ts";
import { tempoTrace } from "./support/tempo-trace.ts";

const start = 1_795_392_105_194_076_123n;

/** Names with their depth, in the order of the tree. */
function outline({ spans }: TraceModel): string[] {
  return spans.map(({ name, depth }) => `${"  ".repeat(depth)}${name}`);
}

describe("the tree of a trace", () => {
  test("has parents before their children, which are ordered by start, whatever the order of arrival", () => {
    const model = readTrace(
      tempoTrace([
        { id: "04", parent: "02", name: "grandchild", startNs: 30, endNs: 40 },
        { id: "03", parent: "01", name: "second", startNs: 50, endNs: 60 },
        { id: "01", name: "root", startNs: 0, endNs: 100 },
        { id: "02", parent: "01", name: "first", startNs: 10, endNs: 45 },
      ]),
    );
    assert.deepEqual(outline(model), ["root", "  first", "    grandchild", "  second"]);
    assert.deepEqual(
      model.spans.map(({ parent, next, children }) => ({ parent, next, children: [...children] })),
      [
        { parent: -1, next: 4, children: [1, 3] },
        { parent: 0, next: 3, children: [2] },
        { parent: 1, next: 3, children: [] },
        { parent: 0, next: 4, children: [] },
      ],
    );
    assert.equal(model.depth, 2);
  });

  test("keeps nanoseconds, relative to the start", () => {
    const model = readTrace(tempoTrace([{ id: "01", startNs: 0, endNs: 1_000_000_001 }], { start }));
    assert.equal(model.startUnixNano, start);
    assert.equal(model.durationNs, 1_000_000_001);
    assert.equal(model.startMs, 1_795_392_105_194.076);
  });

  test("has a root for each span without a parent, and for each whose parent has not arrived", () => {
    const model = readTrace(
      tempoTrace([
        { id: "01", name: "a", startNs: 5, endNs: 10 },
        { id: "02", name: "b", startNs: 0, endNs: 10 },
        { id: "03", parent: "99", name: "orphan", startNs: 7, endNs: 8 },
        { id: "04", parent: "03", name: "its child", startNs: 7, endNs: 8 },
      ]),
    );
    assert.deepEqual(outline(model), ["b", "a", "orphan", "  its child"]);
    assert.deepEqual(
      model.spans.map(({ detached }) => detached),
      [undefined, undefined, "missing", undefined],
    );
    assert.deepEqual(model.roots, [0, 1, 2]);
  });

  test("shows every span of a cycle once, below the earliest", () => {
    const model = readTrace(
      tempoTrace([
        { id: "01", parent: "03", name: "a", startNs: 1, endNs: 9 },
        { id: "02", parent: "01", name: "b", startNs: 2, endNs: 9 },
        { id: "03", parent: "02", name: "c", startNs: 3, endNs: 9 },
        { id: "04", parent: "03", name: "below", startNs: 4, endNs: 9 },
        { id: "05", parent: "05", name: "own parent", startNs: 5, endNs: 9 },
      ]),
    );
    assert.deepEqual(outline(model), ["a", "  b", "    c", "      below", "own parent"]);
    assert.equal(model.spans[0]!.detached, "cycle");
    assert.equal(model.spans[4]!.detached, "cycle");
  });

  test("keeps spans with the same ID apart, and gives children to the one that was running", () => {
    const model = readTrace(
      tempoTrace([
        { id: "01", name: "first try", startNs: 0, endNs: 10 },
        { id: "01", name: "second try", startNs: 20, endNs: 30 },
        { id: "02", parent: "01", name: "child", startNs: 25, endNs: 28 },
      ]),
    );
    assert.deepEqual(outline(model), ["first try", "second try", "  child"]);
    assert.deepEqual([...model.byKey.keys()], ["0000000000000001", "0000000000000001~2", "0000000000000002"]);
  });

  test("accepts clocks that differ, spans without times and spans that end before they start", () => {
    const model = readTrace(
      tempoTrace([
        { id: "01", name: "root", startNs: 10, endNs: 20 },
        { id: "02", parent: "01", name: "early", startNs: 0, endNs: 5 },
        { id: "03", parent: "01", name: "backwards", startNs: 15, endNs: 12 },
        { id: "04", parent: "01", name: "late", startNs: 18, endNs: 40 },
        { id: "05", parent: "01", name: "instant", startNs: 20, endNs: 20 },
      ]),
    );
    assert.deepEqual(
      model.spans.map(({ name, startNs, endNs }) => [name, startNs, endNs]),
      [
        ["root", 10, 20],
        ["early", 0, 5],
        ["backwards", 15, 15],
        ["late", 18, 40],
        ["instant", 20, 20],
      ],
    );
    assert.equal(model.durationNs, 40);
  });

  test("is not limited in depth", () => {
    const spans = Array.from({ length: 20_000 }, (_, index) => ({
      id: (index + 1).toString(16),
      ...(index === 0 ? {} : { parent: index.toString(16) }),
      startNs: index,
      endNs: 40_000 - index,
    }));
    const model = readTrace(tempoTrace(spans));
    assert.equal(model.depth, 19_999);
    assert.equal(model.spans[0]!.next, 20_000);
  });

  test("names services and projects once, and counts errors", () => {
    const model = readTrace(
      tempoTrace([
        { id: "01", service: "web", startNs: 0, endNs: 9 },
        { id: "02", parent: "01", service: "agents", project: "demo", startNs: 1, endNs: 9, failed: true },
        { id: "03", parent: "01", service: "web", startNs: 2, endNs: 9 },
        { id: "04", parent: "01", service: "", startNs: 3, endNs: 9 },
      ]),
    );
    assert.deepEqual(model.services, ["web", "agents", "unknown_service"]);
    assert.deepEqual(model.projects, ["demo"]);
    assert.deepEqual(
      model.spans.map(({ serviceIndex }) => serviceIndex),
      [0, 1, 0, 2],
    );
    assert.equal(model.errorCount, 1);
  });
});

describe("IDs", () => {
  test("are hexadecimal", () => {
    assert.equal(hexId("jASwuDdLv8c="), "8c04b0b8374bbfc7");
    assert.equal(hexId(undefined), "");
  });
});
