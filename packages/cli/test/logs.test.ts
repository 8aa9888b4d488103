import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { failure, json, startScriptedServer, type Answer } from "../../client/test/scripted-server.ts";
import { otlpSender } from "../../../test/support/otlp-sender.ts";
import { startServer, untilTelemetryReady } from "../../../test/support/running-server.ts";
import { renderLogEntry } from "../src/telemetry/render-log-entry.ts";
import { widthOf } from "../src/terminal/text-width.ts";
import { readTimeRange } from "../src/telemetry/time-range.ts";
import { runSounding, spawnSounding, type Outcome, type RunOptions } from "./run-sounding.ts";

const server = await startScriptedServer();

function sounding(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, ...options.env };
  return runSounding(words, { ...options, env });
}

type Value = [unixNano: string, line: string, details?: { structuredMetadata: Record<string, string> }];

function logs(...streams: readonly [labels: Record<string, string>, values: Value[]][]): Answer {
  const result = streams.map(([stream, values]) => ({ stream, values }));
  return json({ status: "success", data: { resultType: "streams", result, stats: {} } });
}

const shop = { severity: "info", service_name: "shop", project_name: "p" };
const till = { severity: "error", service_name: "till", project_name: "p" };
const first = "1795229417000000000";
const second = "1795229418000000001";
const third = "1795229419000000000";

describe("sounding logs", { timeout: 120_000 }, () => {
  test("shows the newest entries, oldest first, without terminal control sequences", async () => {
    const lines: Value[] = [
      [third, "two\nlines \u001b[31m\r"],
      [first, "one"],
    ];
    server.answer(logs([shop, lines], [till, [[second, "broken"]]]));
    const words = ["logs", "-s", "error", "--project", "p", "--since", "2h", "-n", "3", "--utc"];
    assert.deepEqual(await sounding(words), {
      code: 0,
      stdout: [
        "2026-11-21 02:50:17.000Z  INFO     p/shop  one",
        "2026-11-21 02:50:18.000Z  ERROR    p/till  broken",
        "2026-11-21 02:50:19.000Z  INFO     p/shop  two",
        "  lines [31m",
        "",
      ].join("\n"),
      stderr: "",
    });
    const sent: unknown = JSON.parse(server.requests[0]!.body);
    assert.deepEqual(sent, { severity: "error", project_name: "p", time_window: "2h", limit: 3 });
    assert.equal(server.requests[0]!.headers["x-project"], undefined, "the project is what is asked for, not who asks");
  });

  test("shows local time without --utc", async () => {
    server.answer(logs([shop, [[first, "one"]]]));
    const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, TZ: "Asia/Tokyo" };
    const { stdout } = await spawnSounding(["logs"], { env });
    assert.equal(stdout, "2026-11-21 11:50:17.000  INFO     p/shop  one\n");
  });

  test("sends every filter", async () => {
    server.answer(logs());
    const words = ["logs", "card declined", "-m", "warning", "--service", "shop", "--trace", "0af7", "-a"];
    await sounding([...words, "--attribute", "a.b=c=d", "--attribute", "n=", "--since", "2026-11-01T10:00Z"]);
    assert.deepEqual(JSON.parse(server.requests[0]!.body), {
      search: "card declined",
      min_severity: "warning",
      service_name: "shop",
      trace_id: "0af7",
      attributes: { "a.b": "c=d", n: "" },
      detail: true,
      start: "2026-11-01T10:00:00.000Z",
      limit: 100,
    });
  });

  test("shows attributes and stack traces with --attributes, and no terminal control sequences in them", async () => {
    const structuredMetadata = {
      "exception.stacktrace": 'Traceback:\n  File "x.py"\u001b[2J, line 1\nZeroDivisionError',
      "user.id\n": "42\nadmin\u202e",
    };
    const labels = { ...till, trace_id: "0af7651916cd43dd8448eb211c80319c" };
    server.answer(logs([labels, [[first, "failed", { structuredMetadata }]]]));
    assert.deepEqual((await sounding(["logs", "-a", "--utc"])).stdout.split("\n"), [
      "2026-11-21 02:50:17.000Z  ERROR    p/till  failed",
      "    trace_id: 0af7651916cd43dd8448eb211c80319c",
      "    user.id : 42",
      "      admin",
      "    Traceback:",
      '      File "x.py"[2J, line 1',
      "    ZeroDivisionError",
      "",
    ]);
    server.answer(logs([labels, [[first, "failed", { structuredMetadata }]]]));
    const { stdout } = await sounding(["logs", "-a", "--json"]);
    const entry = { timestamp_ns: first, message: "failed", labels, attributes: structuredMetadata };
    assert.deepEqual(JSON.parse(stdout), entry);
  });

  test("requests as many pages as --limit needs", async () => {
    const page = (from: number, to: number, next: string | null): Answer => {
      const values = Array.from({ length: to - from + 1 }, (_, index) => [
        `${BigInt(first) - BigInt(from + index)}`,
        "x",
      ]);
      const data = { resultType: "streams", result: [{ stream: shop, values }], stats: {} };
      return json({ status: "success", data, next_cursor: next });
    };
    server.answer(page(0, 4999, "c1"), page(5000, 9999, "c2"));
    const { stdout } = await sounding(["logs", "--limit", "6000", "--json"]);
    const times = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { timestamp_ns: string }).timestamp_ns);
    assert.deepEqual([times.length, times.at(-1), times[0]], [6000, first, String(BigInt(first) - 5999n)]);
    const sent = server.requests.map(({ body }) => JSON.parse(body) as { cursor: string; limit: number });
    assert.deepEqual(
      sent.map(({ cursor, limit }) => [cursor, limit]),
      [
        ["", 5000],
        ["c1", 5000],
      ],
    );
  });

  test("writes one JSON entry per line", async () => {
    server.answer(logs([till, [[second, "broken"]]]));
    const { stdout } = await sounding(["logs", "--json"]);
    assert.deepEqual(JSON.parse(stdout), { timestamp_ns: second, message: "broken", labels: till });
  });

  test("reports that no entries match", async () => {
    server.answer(logs());
    assert.deepEqual(await sounding(["logs"]), { code: 0, stdout: "", stderr: "No entries in the last 24h.\n" });
  });

  test("follows: prints each new entry once, until it is interrupted", async () => {
    const [old, middle, recent] = [30_000, 20_000, 10_000].map((ago) => `${Date.now() - ago}000000`);
    const entries: [string, string][] = [
      [middle!, "second"],
      [old!, "first"],
    ];
    const shown = Promise.withResolvers<void>();
    server.answer(
      logs([shop, [[old!, "first"]]]),
      logs([shop, [[old!, "first"]]]),
      logs([shop, entries]),
      logs([shop, [[recent!, "third"], ...entries]]),
    );
    const outcome = await sounding(["logs", "--follow", "--interval", "0.1", "--json"], {
      during(child) {
        let seen = "";
        child.stdout.on("data", (bytes: Buffer) => {
          seen += bytes.toString();
          if (seen.includes("third")) shown.resolve();
        });
        void shown.promise.then(() => child.kill("SIGINT"));
      },
    });
    const messages = outcome.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { message: string }).message);
    assert.deepEqual(messages, ["first", "second", "third"]);
    assert.equal(outcome.stderr, "");
  });

  test("reports the server's refusals and its own", async () => {
    server.answer(failure(400, {}, { message: 'time_window is "x"; expected …', param: "time_window" }));
    const { code, stderr } = await sounding(["logs", "--since", "x"]);
    assert.deepEqual(
      [code, stderr],
      [2, 'sounding: --since is "x"; expected …\nRun `sounding --help`, or `sounding <command> --help`.\n'],
    );
    const refused: readonly (readonly [words: readonly string[], message: RegExp])[] = [
      [["-s", "warn"], /--severity is "warn"; it must be one of debug, info, warning, error/],
      [["-m", "warn"], /--min-severity is "warn"; it must be one of debug, info, warning, error/],
      [["-n", "many"], /--limit is "many"/],
      [["--attribute", "x"], /--attribute is "x"; it must be NAME=VALUE/],
      [["--attribute", "a=1", "--attribute", "a=2"], /--attribute has a twice/],
      [["--until", "noon"], /--until is "noon"; it must be a duration such as 15m, 24h or 7d, or a time/],
      [["--since", "2026-13-01"], /--since is "2026-13-01"; it must be a duration/],
      [["--until", "1h", "-f"], /--follow and --until exclude each other/],
    ];
    for (const [words, message] of refused) assert.match((await sounding(["logs", ...words])).stderr, message);
  });

  test("finds what an application logged, with its stack trace, on a real server", async () => {
    await using real = await startServer("", { telemetry: true });
    await untilTelemetryReady(real);
    const attributes = [{ key: "exception.stacktrace", value: { stringValue: "Error: no\n    at shop.ts:1" } }];
    const unixNano = BigInt(Date.now() - 60_000) * 1_000_000n;
    await otlpSender(real.url, real.key).logs({ "service.name": "shop", "project.name": "p" }, [
      { unixNano, body: "Payment failed", more: { severityNumber: 17, attributes } },
      { unixNano, body: "Payment succeeded", more: { severityNumber: 9 } },
    ]);
    const env = { SOUNDING_API_KEY: real.key, SOUNDING_BASE_URL: real.url };
    const { code, stdout, stderr } = await sounding(["logs", "payment", "--min-severity", "warning", "-a"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^\S+ \S+ {2}ERROR {4}p\/shop {2}Payment failed\n {4}Error: no\n {8}at shop\.ts:1\n$/);
  });
});

describe("a log entry in a terminal", () => {
  const entry = { timestampNs: BigInt(first), labels: till, attributes: undefined };
  const render = (message: string, terminalWidth: number, stdout = false): string =>
    renderLogEntry({ ...entry, message }, { colors: { stdout, stderr: false }, terminalWidth }, { utc: true });

  test("is wrapped between words, and within words that are too long", () => {
    assert.equal(
      render("the payment was declined by the bank", 60),
      "2026-11-21 02:50:17.000Z  ERROR    p/till  the payment was\n  declined by the bank",
    );
    assert.equal(
      render("x".repeat(90), 60)
        .split("\n")
        .map((line) => line.length)
        .join(),
      "60,60,17",
    );
    for (let width = 42; width < 120; width += 1) {
      for (const line of render("two words 漢字漢字漢字 and more\nlines ".repeat(5), width).split("\n")) {
        assert.ok(widthOf(line) <= width, `${width}: ${line}`);
      }
    }
  });

  test("has the color of its level", () => {
    const colored = render("broken", 120, true);
    assert.ok(colored.includes("\u001b[31mERROR  \u001b[39m"), JSON.stringify(colored));
    assert.equal(stripVTControlCharacters(colored), render("broken", 120));
  });
});

describe("--since and --until", () => {
  const nowMs = Date.parse("2026-11-21T12:00:00Z");

  test("are durations before now, or times", () => {
    const read = (since: string, until?: string) => readTimeRange({ since, until, utc: true }, nowMs);
    assert.deepEqual(read("2h"), { time_window: "2h" });
    assert.deepEqual(read("2h", "30m"), { start: "2026-11-21T10:00:00.000Z", end: "2026-11-21T11:30:00.000Z" });
    assert.deepEqual(read("2026-11-20"), { start: "2026-11-20T00:00:00.000Z" });
    assert.deepEqual(read("2026-11-20 09:30", "2026-11-20T09:30:05+01:00"), {
      start: "2026-11-20T09:30:00.000Z",
      end: "2026-11-20T08:30:05.000Z",
    });
  });

  test("are in local time without a zone and --utc", () => {
    const local = new Date(2026, 10, 20, 9, 30).toISOString();
    assert.deepEqual(readTimeRange({ since: "2026-11-20T09:30" }, nowMs), { start: local });
  });
});
