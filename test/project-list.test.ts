/** `sounding project list` shows registered projects and those that only telemetry names. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runSounding, type Outcome } from "../packages/cli/test/run-sounding.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

describe("sounding project list", { timeout: 60_000 }, () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    server = stack.use(await startServer("", { telemetry: true }));
    await untilTelemetryReady(server);
    const unixNano = BigInt(Date.now()) * 1_000_000n;
    const sender = otlpSender(server.url, server.key);
    const of = (project: string) => ({ "service.name": "s", "project.name": project });
    await sender.logs(of("default"), [{ unixNano, body: "hello" }]);
    await sender.logs(of("checkout"), [{ unixNano, body: "hello" }]);
    await sender.metrics(of("checkout"), [{ name: "m", startUnixNano: unixNano - 1n, unixNano, sum: 1 }]);
  });

  const list = (keys: Record<string, string>, ...words: string[]): Promise<Outcome> =>
    runSounding(["project", "list", ...words], { env: { SOUNDING_BASE_URL: server.url, ...keys } });
  const projectsOf = ({ code, stdout, stderr }: Outcome) => {
    assert.deepEqual([code, stderr], [0, ""]);
    const projects = JSON.parse(stdout) as { name: string; registered: boolean | null; signals: string[] | null }[];
    return projects.map(({ name, registered, signals }) => [name, registered, signals]);
  };

  test("marks registered projects and shows what telemetry each has", async () => {
    const keys = { SOUNDING_API_KEY: server.key, SOUNDING_ADMIN_KEY: server.operatorKey };
    assert.deepEqual(projectsOf(await list(keys, "--json")), [
      ["default", true, ["logs"]],
      ["checkout", false, ["logs", "metrics"]],
    ]);
    const { stdout } = await list(keys);
    assert.match(stdout, /^NAME +ORGANIZATION +REGISTERED +TELEMETRY +KEPT /);
    assert.match(stdout, /^default +default +yes +logs +30 days /m);
    assert.match(stdout, /^checkout +default +no +logs, metrics +- /m);
  });

  test("does not show one organization's telemetry as another's", async () => {
    const headers = { authorization: `Bearer ${server.operatorKey}` };
    assert.equal((await server.call("/admin/v1/organizations", { name: "acme" }, headers)).status, 201);
    const keys = { SOUNDING_API_KEY: server.key, SOUNDING_ADMIN_KEY: server.operatorKey };
    assert.deepEqual(projectsOf(await list(keys, "--json", "-o", "acme")), [["default", true, null]]);
  });

  test("lists what the key may see, and says what is missing", async () => {
    const reader = await list({ SOUNDING_API_KEY: server.key });
    assert.deepEqual(projectsOf(await list({ SOUNDING_API_KEY: server.key }, "--json")), [
      ["checkout", null, ["logs", "metrics"]],
      ["default", null, ["logs"]],
    ]);
    assert.match(reader.stderr, /does not have the permission admin, so only projects that have telemetry are listed/);
    const operator = await list({ SOUNDING_ADMIN_KEY: server.operatorKey });
    assert.match(operator.stdout, /^default +default +yes +unknown /m);
    assert.match(operator.stderr, /telemetry names are not listed: .*"telemetry_read".* in SOUNDING_API_KEY/);
  });

  test("is what an empty list of traces recommends", async () => {
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key };
    const { stderr } = await runSounding(["traces", "--project", "nowhere"], { env });
    const recommended = /`sounding (?<words>[a-z ]+)`/.exec(stderr)!.groups!["words"]!;
    assert.equal((await runSounding(recommended.split(" "), { env })).code, 0);
  });
});
