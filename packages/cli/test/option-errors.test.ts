/** Values that the server refuses: the command names its own option or argument, and exits as for an invalid command line. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, startScriptedServer } from "../../client/test/scripted-server.ts";
import { runSounding } from "./run-sounding.ts";

const server = await startScriptedServer();

async function refused(words: readonly string[], error: object, status = 400): Promise<[number | null, string]> {
  server.answer(failure(status, {}, { code: "invalid_request", ...error }));
  const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_ADMIN_KEY: "sk-test", SOUNDING_BASE_URL: server.url };
  const { code, stderr } = await runSounding(words, { env });
  return [code, stderr.split("\n", 1)[0]!];
}

describe("a value that the server refuses", () => {
  for (const [words, param, shown] of [
    [["logs", "--since", "x"], "time_window", "--since"],
    [["traces", "--limit", "0"], "limit", "--limit"],
    [["traces", "--service", ""], "service_name", "--service"],
    [["chat", "hi", "-m", "m", "--max-tokens", "0"], "max_completion_tokens", "--max-tokens"],
    [["speak", "hi", "--voice", "nobody"], "voice", "--voice"],
    [["key", "create", "k", "--role", "x"], "role", "--role"],
    [["org", "create", "-"], "name", "name"],
  ] as const) {
    test(`is named ${shown}: sounding ${words.join(" ")}`, async () => {
      const error = { message: `${param} is "x"; expected another.`, param };
      assert.deepEqual(await refused(words, error), [2, `sounding: ${shown} is "x"; expected another.`]);
    });
  }

  test("keeps its name if no option sets it, or if the message does not begin with it", async () => {
    const unset = { message: "limit is 0; expected more.", param: "top_k" };
    assert.deepEqual(await refused(["logs", "--limit", "5"], unset), [1, `sounding: ${unset.message}`]);
    const other = { message: "The query is too large.", param: "limit" };
    assert.deepEqual(await refused(["logs", "--limit", "5"], other), [1, `sounding: ${other.message}`]);
  });

  test("keeps the exit code of other failures", async () => {
    const error = { message: "limit is reached.", param: "limit" };
    assert.deepEqual(await refused(["logs", "--limit", "5"], error, 404), [5, `sounding: ${error.message}`]);
  });

  test("is named in JSON too", async () => {
    server.answer(failure(400, {}, { message: "limit is 0; expected more.", param: "limit" }));
    const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url };
    const { code, stderr } = await runSounding(["logs", "--limit", "0", "--json"], { env });
    assert.equal(code, 2);
    assert.deepEqual(JSON.parse(stderr), { error: { message: "--limit is 0; expected more.", exit_code: 2 } });
  });
});
