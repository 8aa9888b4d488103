import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { failure, json, startScriptedServer } from "../../client/test/scripted-server.ts";
import { run } from "../src/run.ts";
import { widthOf } from "../src/terminal/text-width.ts";

const server = await startScriptedServer();

/** The command in a terminal of this width, or piped. */
async function sounding(
  words: readonly string[],
  width?: number,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1_000_000 }), new PassThrough()];
  const code = await run(words, {
    stdin: Readable.from([]),
    stdout,
    stderr,
    isTTY: { stdin: false, stdout: width !== undefined, stderr: false },
    terminalWidth: width,
    env: { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, NO_COLOR: "1" },
    signal: new AbortController().signal,
    abortedExitCode: () => 130,
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

const startSeconds = Date.UTC(2026, 10, 22, 19, 0) / 1000;
const values = (numbers: readonly number[]): [number, string][] =>
  numbers.map((number, index) => [startSeconds + index * 300, String(number)]);

function matrix(...series: readonly { metric: Record<string, string>; values: [number, string][] }[]) {
  return json({ status: "success", data: { resultType: "matrix", result: series } });
}

const list = json({
  object: "list",
  data: [
    { name: "inference_latency", unit: "seconds", description: "How long calls took." },
    { name: "token_consumption", unit: "tokens", description: "Tokens." },
    { name: "success_rate", unit: "share, 0 to 1", description: "Share." },
  ],
});

describe("sounding metrics", { timeout: 60_000 }, () => {
  test("draws a series as a chart with values, units and times on its axes", async () => {
    server.answer(matrix({ metric: { model_key: "m" }, values: values([0, 1, 2, 3, 4, 8]) }), list);
    const { stdout } = await sounding(["metrics", "inference_latency", "--step", "5m", "--utc"], 40);
    assert.equal(
      stdout,
      [
        "inference_latency · model_key=m",
        "8.00 s ┤                    ████",
        "       ┤                    ████",
        "       ┤                    ████",
        "       ┤            ▂▂▂▂████████",
        "       ┤        ▄▄▄▄████████████",
        "   0 s ┤▁▁▁▁▆▆▆▆████████████████",
        "       └────────────────────────",
        "        19:00    19:12     19:25 UTC",
        "",
      ].join("\n"),
    );
  });

  test("leaves a gap where there is no value, and fits any terminal", async () => {
    const gap = values(Array.from({ length: 400 }, (_, index) => index)).toSpliced(10, 300);
    for (const width of [30, 80, 120]) {
      server.answer(matrix({ metric: { name: "\u001b[2J\n".repeat(50) }, values: gap }), list);
      const { stdout } = await sounding(["metrics", "token_consumption", "--step", "5m"], width);
      const lines = stdout.trimEnd().split("\n");
      assert.equal(lines.length, 9);
      for (const line of lines) assert.ok(widthOf(line) <= width, line);
      assert.match(lines[6]!, /┤▁+ +█+$/);
      assert.doesNotMatch(stdout.replaceAll("\n", ""), /\p{Cc}/u);
    }
  });

  test("writes many series as a table of bars with the time range and values in the metric's unit", async () => {
    const series = Array.from({ length: 5 }, (_, index) => ({
      metric: { model_key: `model-${index}` },
      values: values([index * 1000, 1500, 2_500_000]),
    }));
    server.answer(matrix(...series), list);
    const { stdout } = await sounding(["metrics", "token_consumption", "--step", "5m", "--utc"]);
    const [heading, first, second] = stdout.split("\n");
    assert.match(heading!, /^MODEL_KEY {2}19:00Z – 19:10Z {2}LEAST {2}GREATEST {2}LAST \(TOKENS\)$/);
    assert.match(first!, /^model-0 +▁▁█ +0 +2\.5M +2\.5M$/);
    assert.match(second!, /^model-1 +▁▁█ +1k +2\.5M +2\.5M$/);
  });

  test("writes single values with their units", async () => {
    const vector = (value: string) =>
      json({
        status: "success",
        data: { resultType: "vector", result: [{ metric: {}, value: [startSeconds, value] }] },
      });
    for (const [metric, value, shown] of [
      ["inference_latency", "0.0421", "VALUE\n42.1 ms\n"],
      ["success_rate", "0.9312", "VALUE\n93.1 %\n"],
      ["token_consumption", "1234567", "VALUE (TOKENS)\n1.23M\n"],
    ] as const) {
      server.answer(vector(value), list);
      const { stdout } = await sounding(["metrics", metric]);
      assert.equal(stdout.replaceAll(/^ +/gm, ""), shown);
    }
  });

  test("suggests the metric that was meant, and passes on other errors about the metric", async () => {
    server.answer(failure(400, {}, { message: 'metric is "tokn_consumption"; …', param: "metric" }), list);
    const { code, stderr } = await sounding(["metrics", "tokn_consumption"]);
    assert.equal(code, 2);
    assert.match(stderr, /^sounding: metric is "tokn_consumption"; did you mean "token_consumption"\?\n/);
    server.answer(failure(400, {}, { message: "No model has a price.", param: "metric" }), list);
    assert.match((await sounding(["metrics", "token_consumption"])).stderr, /No model has a price/);
  });
});
