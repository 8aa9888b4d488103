/** Environment variables with a mistake in their name, and the names that people try first. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resolveConfig } from "./load-config.ts";
import { parseYaml } from "./yaml-file.ts";

const resolve = (env: Record<string, string>, yaml?: string) =>
  resolveConfig({ file: yaml === undefined ? undefined : parseYaml("sounding.yaml", yaml), env });

describe("an environment variable", () => {
  test("with an unknown name is reported with the nearest name", () => {
    const { warnings, config } = resolve({ SOUNDING_LOGLEVEL: "debug", SOUNDING_XYZZY: "1", OTHER: "1" });
    assert.equal(config?.server.log_level, "info");
    assert.deepEqual(warnings, [
      'The environment variable SOUNDING_LOGLEVEL is unknown and has no effect. Did you mean "SOUNDING_LOG_LEVEL"?',
      "The environment variable SOUNDING_XYZZY is unknown and has no effect. docs/reference/configuration/ lists all settings.",
    ]);
  });

  test("of the commands, of the file, or of Kubernetes is not reported", () => {
    const env = {
      SOUNDING_API_KEY: "sk-x",
      SOUNDING_BASE_URL: "http://x",
      SOUNDING_PROFILE: "work",
      SOUNDING_CONFIG: "a.yaml",
      SOUNDING_MY_KEY: "sk-y",
      SOUNDING_SERVICE_HOST: "10.0.0.7",
      SOUNDING_SERVICE_PORT_HTTP: "80",
      SOUNDING_PORT_80_TCP_ADDR: "10.0.0.7",
      SOUNDING_WEB_PORT: "tcp://10.0.0.8:80",
    };
    const yaml = "engines: { x: { type: openai_compatible, base_url: 'http://x/v1', api_key: '${SOUNDING_MY_KEY}' } }";
    assert.deepEqual(resolve(env, yaml).warnings, []);
  });

  test("SOUNDING_PORT and SOUNDING_HOST set the address, unless they are Kubernetes' link to a service", () => {
    const server = resolve({ SOUNDING_PORT: "5000", SOUNDING_HOST: "::1" }).config?.server;
    assert.deepEqual([server?.port, server?.host], [5000, "::1"]);
    assert.equal(resolve({ SOUNDING_PORT: "tcp://10.0.0.7:4141" }).config?.server.port, 4141);
    const both = resolve({ SOUNDING_PORT: "5000", SOUNDING_LISTEN_PORT: "6000" });
    assert.equal(both.config?.server.port, 6000);
    assert.match(
      resolve({ SOUNDING_PORT: "high" }).problems[0]?.message ?? "",
      /variable SOUNDING_PORT \(server\.port\)/,
    );
  });
});
