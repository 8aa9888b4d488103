import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { AppError } from "../../errors.ts";
import { createTracePresets } from "./trace-presets.ts";

test("docs/observability/logs-and-traces.md describes every preset as the code does", () => {
  const page = readFileSync(new URL("../../../../../docs/observability/logs-and-traces.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(?<name>\w+_traces)` +\| (?<description>.*?) +\|$/gm)];
  const described = rows.map(({ groups }) => [groups!["name"], groups!["description"]]);
  const { all } = createTracePresets({ slowTraceMs: 1, configured: {} });
  assert.deepEqual(
    described,
    all.map(({ name, description }) => [name, description]),
  );
});

test("a configured preset cannot reuse the name of another", () => {
  assert.throws(
    () => createTracePresets({ slowTraceMs: 1, configured: { slow_traces: { status: "error" } } }),
    (error: AppError) => error.param === "telemetry.trace_presets.slow_traces" && /already exists/.test(error.message),
  );
});

test("configured values reach a statement only as bound parameters", () => {
  const hostile = "x') OR 1=1 --";
  const { find } = createTracePresets({
    slowTraceMs: 1,
    configured: {
      mine: { attributes: { [hostile]: [hostile] }, resource_attributes: { [hostile]: ["*"] }, services: [hostile] },
    },
  });
  const { text, parameters } = find("mine").condition!.render();
  assert.ok(!text.includes("1=1"));
  assert.ok([...parameters.values()].filter((value) => value.includes("1=1")).length >= 4);
});
