/** How much telemetry a server has received, as its metrics tell. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseIngestedRows } from "./ingested-rows.ts";

test("received rows are counted by kind, without refused ones", () => {
  const text = [
    "# TYPE sounding_telemetry_rows_total counter",
    'sounding_telemetry_rows_total{table="spans",outcome="written"} 120',
    'sounding_telemetry_rows_total{table="spans",outcome="overloaded"} 7',
    'sounding_telemetry_rows_total{table="logs",outcome="written"} 3',
    'sounding_telemetry_rows_total{table="points",outcome="written"} 1e3',
    'sounding_telemetry_rows_total{table="distribution_points",outcome="written"} 2',
    'sounding_telemetry_rows_total{table="resources",outcome="written"} 9',
  ].join("\n");
  assert.deepEqual(parseIngestedRows(text), { spans: 120, log_records: 3, points: 1002 });
});
