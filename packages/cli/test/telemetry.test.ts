import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, json, startScriptedServer } from "../../client/test/scripted-server.ts";
import { runSounding, type Outcome, type RunOptions } from "./run-sounding.ts";

const server = await startScriptedServer();

function sounding(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, ...options.env };
  return runSounding(words, { ...options, env });
}

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
