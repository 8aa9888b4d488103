import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, json, startScriptedServer, type Answer } from "../../client/test/scripted-server.ts";
import { runSounding, type Outcome, type RunOptions } from "./run-sounding.ts";

const server = await startScriptedServer();

function sounding(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, ...options.env };
  return runSounding(words, { ...options, env });
}

function logs(...streams: readonly [labels: Record<string, string>, values: [string, string][]][]): Answer {
  const result = streams.map(([stream, values]) => ({ stream, values }));
  return json({ status: "success", data: { resultType: "streams", result, stats: {} } });
}

const shop = { severity: "info", service_name: "shop", project_name: "p" };
const till = { severity: "error", service_name: "till", project_name: "p" };
const first = "1795229417000000000";
const second = "1795229418000000001";
const third = "1795229419000000000";

describe("sounding logs", { timeout: 60_000 }, () => {
  test("shows the newest entries, oldest first, without terminal control sequences", async () => {
    server.answer(
      logs(
        [
          shop,
          [
            [third, "two\nlines \u001b[31m\r"],
            [first, "one"],
          ],
        ],
        [till, [[second, "broken"]]],
      ),
    );
    assert.deepEqual(await sounding(["logs", "-s", "error", "--project", "p", "--since", "2h", "-n", "3"]), {
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
    assert.deepEqual(JSON.parse(server.requests[0]!.body), {
      severity: "error",
      project_name: "p",
      time_window: "2h",
      limit: 3,
    });
    assert.equal(server.requests[0]!.headers["x-project"], undefined, "the project is what is asked for, not who asks");
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
    server.answer(failure(400, {}, { message: 'time_window is "x"; expected …' }));
    const { code, stderr } = await sounding(["logs", "--since", "x"]);
    assert.deepEqual([code, stderr], [1, 'sounding: time_window is "x"; expected …\n']);
    assert.match(
      (await sounding(["logs", "-s", "warn"])).stderr,
      /--severity is "warn"; it must be one of debug, info, warning, error/,
    );
    assert.match((await sounding(["logs", "-n", "many"])).stderr, /--limit is "many"/);
  });
});

describe("sounding demo", { timeout: 60_000 }, () => {
  test("sends the same hour for the same seed, and resends what the server could not accept", async () => {
    server.answer(failure(503, { "retry-after": "0" }), json({}));
    const { code, stdout } = await sounding(["demo", "--seed", "7", "--json"]);
    assert.equal(code, 0);
    const { spans, logs: entries, metric_points } = JSON.parse(stdout) as Record<string, number>;
    const paths = server.requests.map(({ url }) => url);
    assert.deepEqual(paths.slice(0, 2), ["/v1/traces", "/v1/traces"], "the first request came twice");
    assert.deepEqual(new Set(paths), new Set(["/v1/traces", "/v1/logs", "/v1/metrics"]));
    const bodies = server.requests.slice(1).map(({ body }) => body);
    const countOf = (name: string): number => bodies.join().split(`"${name}":`).length - 1;
    assert.deepEqual(
      [countOf("spanId") - countOf("severityNumber"), countOf("severityNumber"), countOf("asInt")],
      [spans, entries, metric_points],
    );
    assert.ok(spans! > 1000 && entries! > 500 && metric_points! > 100);
    assert.ok(bodies.every((body) => body.includes('{"key":"project.name","value":{"stringValue":"demo"}}')));
    server.answer(json({}));
    const again = await sounding(["demo", "--seed", "7", "--json"]);
    assert.deepEqual(JSON.parse(again.stdout), JSON.parse(stdout));
  });

  test("fails with the server's message when the key may not write or part of the data is refused", async () => {
    server.answer(json({ code: 7, message: "no permission" }, 403));
    const denied = await sounding(["demo"]);
    assert.deepEqual(
      [denied.code, denied.stderr],
      [4, "sounding: /v1/traces responded with status 403: no permission\n"],
    );
    server.answer(json({ partialSuccess: { rejectedSpans: "3", errorMessage: "too old" } }));
    assert.match((await sounding(["demo"])).stderr, /accepted only part of the data: too old/);
    const nowhere = await sounding(["demo", "--url", "nowhere"]);
    assert.deepEqual(
      [nowhere.code, nowhere.stderr.split("\n")[0]],
      [2, 'sounding: the server\'s address is "nowhere"; it must be one such as http://127.0.0.1:4141'],
    );
  });
});
