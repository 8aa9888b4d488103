import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attributeLabels, labelName, metricName } from "./prometheus-names.ts";

describe("a metric's name", () => {
  const gauge = { isCounter: false, isGauge: true };
  const counter = { isCounter: true, isGauge: false };
  const histogram = { isCounter: false, isGauge: false };
  for (const [name, unit, kind, expected] of [
    ["http.server.duration", "ms", histogram, "http_server_duration_milliseconds"],
    ["gen_ai.client.operation.duration", "s", histogram, "gen_ai_client_operation_duration_seconds"],
    ["gen_ai.client.token.usage", "{token}", histogram, "gen_ai_client_token_usage"],
    [
      "gen_ai.client.inference.usage.input_tokens",
      "{token}",
      counter,
      "gen_ai_client_inference_usage_input_tokens_total",
    ],
    ["system.memory.usage", "By", gauge, "system_memory_usage_bytes"],
    ["disk.io", "MiBy/s", gauge, "disk_io_mebibytes_per_second"],
    ["speed", "m/s", gauge, "speed_meters_per_second"],
    ["hits", "1/m", gauge, "hits_per_minute"],
    ["cpu.utilization", "1", gauge, "cpu_utilization_ratio"],
    ["cpu.utilization", "1", counter, "cpu_utilization_total"],
    ["room.temperature", "Cel", gauge, "room_temperature_celsius"],
    ["load", "%", gauge, "load_percent"],
    ["requests_total", "", counter, "requests_total"],
    ["total.requests", "", counter, "requests_total"],
    ["duration.seconds", "s", histogram, "duration_seconds"],
    ["a..b__c--d", "", gauge, "a_b_c_d"],
    ["5xx.rate", "", gauge, "_5xx_rate"],
    ["job:requests:rate5m", "", gauge, "job:requests:rate5m"],
    ["queue", "{message}/s", gauge, "queue_per_second"],
    ["odd", "foo bar", gauge, "odd_foo_bar"],
  ] as const) {
    test(`${name} in ${JSON.stringify(unit)} is ${expected}`, () => {
      assert.equal(metricName({ name, unit, ...kind }), expected);
    });
  }
});

describe("a label's name", () => {
  for (const [attribute, expected] of [
    ["http.route", "http_route"],
    ["service_name", "service_name"],
    ["a..b", "a__b"],
    ["2xx", "key_2xx"],
    ["_private", "key_private"],
    ["__a", "key_a"],
    ["__name__", "__name__"],
    ["größe", "gr__e"],
  ] as const) {
    test(`of ${attribute} is ${expected}`, () => assert.equal(labelName(attribute), expected));
  }

  test("joins the values of attributes that map to one label, in the order of their names", () => {
    const labels = attributeLabels([
      ["a_b", "3"],
      ["a.b", "2"],
      ["a-b", "1"],
      ["c", "x"],
    ]);
    assert.deepEqual(
      [...labels],
      [
        ["a_b", "1;2;3"],
        ["c", "x"],
      ],
    );
  });
});
