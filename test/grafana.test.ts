/** The files of docs/observability/grafana/: the data sources pass Grafana's checks, and every panel of the dashboard shows data. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseYaml } from "../packages/server/src/config/yaml-file.ts";
import { runSounding } from "../packages/cli/test/run-sounding.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const folder = new URL("../docs/observability/grafana/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8");

interface DataSource {
  readonly uid: string;
  readonly type: "prometheus" | "loki" | "tempo";
  readonly url: string;
  readonly basicAuthUser: string;
  readonly secureJsonData: { readonly basicAuthPassword: string };
  readonly jsonData: unknown;
}

interface Target {
  readonly expr?: string;
  readonly query?: string;
  readonly instant?: boolean;
}

interface Panel {
  readonly title: string;
  readonly datasource?: { readonly type: DataSource["type"]; readonly uid: string };
  readonly targets?: readonly Target[];
}

interface Dashboard {
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly definition?: string;
      readonly current: { readonly value: string };
    }[];
  };
  readonly panels: readonly Panel[];
}

const { datasources } = parseYaml("datasources.yaml", read("datasources.yaml")).value as { datasources: DataSource[] };
const dashboard = JSON.parse(read("ai-applications.json")) as Dashboard;

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
  const env = { SOUNDING_API_KEY: server.key, SOUNDING_BASE_URL: server.url };
  const { code, stderr } = await runSounding(["demo"], { env });
  assert.equal(code, 0, stderr);
});

/** Sends a request as Grafana does: with the data source's URL and Basic authentication. */
async function get(type: DataSource["type"], path: string, parameters: Record<string, string> = {}): Promise<Response> {
  const { basicAuthUser, url } = datasources.find((source) => source.type === type)!;
  const base = url.replace("http://127.0.0.1:4141", server.url);
  const authorization = `Basic ${Buffer.from(`${basicAuthUser}:${server.key}`).toString("base64")}`;
  return fetch(`${base}${path}?${new URLSearchParams(parameters).toString()}`, { headers: { authorization } });
}

async function json(type: DataSource["type"], path: string, parameters: Record<string, string>): Promise<unknown> {
  const response = await get(type, path, parameters);
  const text = await response.text();
  assert.equal(response.status, 200, `${path} ${JSON.stringify(parameters)}: ${text}`);
  return JSON.parse(text);
}

describe("the data sources", () => {
  test("are one for each signal, and read the key from the environment", () => {
    assert.deepEqual(datasources.map(({ type }) => type).toSorted(), ["loki", "prometheus", "tempo"]);
    for (const { secureJsonData } of datasources) assert.equal(secureJsonData.basicAuthPassword, "$SOUNDING_API_KEY");
  });

  test("link only to each other", () => {
    const uids = new Set(datasources.map(({ uid }) => uid));
    const linked = [...JSON.stringify(datasources).matchAll(/"datasourceUid":"(?<uid>[^"]*)"/g)];
    assert.ok(linked.length >= 5);
    for (const { groups } of linked) assert.ok(uids.has(groups!["uid"]!), groups!["uid"]);
  });

  test("pass the checks of Save & test", async () => {
    const one = (await json("prometheus", "/api/v1/query", { query: "1+1" })) as { data: { result: [number, string] } };
    assert.equal(one.data.result[1], "2");
    const two = (await json("loki", "/loki/api/v1/query", {
      query: "vector(1)+vector(1)",
      direction: "backward",
      time: "4000000000",
    })) as { data: { result: { value: [number, string] }[] } };
    assert.deepEqual(
      two.data.result.map(({ value }) => value[1]),
      ["2"],
    );
    const echo = await get("tempo", "/api/echo");
    assert.deepEqual([echo.status, await echo.text()], [200, "echo"]);
  });
});

describe("the dashboard", () => {
  const variables: Record<string, string> = {
    __range: "2h",
    __rate_interval: "5m",
    __auto: "1m",
    project: ".*",
    service: ".*",
    model: ".*",
  };
  const filled = (text: string): string =>
    text.replaceAll(/\$(?<name>\w+)/g, (_, name: string) => variables[name] ?? assert.fail(name));
  const range = (): { start: string; end: string } => {
    const end = Math.floor(Date.now() / 1000);
    return { start: String(end - 7200), end: String(end) };
  };

  /** Series, streams or traces that a target finds. */
  async function found(type: DataSource["type"], { expr, instant, query }: Target): Promise<number> {
    if (type === "tempo") {
      const text = filled(query!);
      const path = text.includes("rate()") ? "/api/metrics/query_range" : "/api/search";
      const answer = (await json("tempo", path, { q: text, step: "60s", ...range() })) as Record<string, unknown[]>;
      return (answer["series"] ?? answer["traces"])!.length;
    }
    const api = type === "loki" ? "/loki/api/v1" : "/api/v1";
    const text = filled(expr!);
    const { data } = (await (instant === true
      ? json(type, `${api}/query`, { query: text })
      : json(type, `${api}/query_range`, { query: text, step: "60", ...range() }))) as { data: { result: unknown[] } };
    return data.result.length;
  }

  test("uses the provisioned data sources", () => {
    for (const { current, name, type } of dashboard.templating.list) {
      if (type !== "datasource") continue;
      assert.ok(
        datasources.some(({ uid }) => uid === current.value),
        name,
      );
    }
    const names = new Set(dashboard.templating.list.map(({ name }) => `\${${name}}`));
    for (const { datasource, title } of dashboard.panels) {
      if (datasource !== undefined) assert.ok(names.has(datasource.uid), title);
    }
  });

  for (const { datasource, targets = [], title } of dashboard.panels) {
    for (const [index, target] of targets.entries()) {
      test(`shows data in "${title}", query ${index + 1}`, async () => {
        assert.ok((await found(datasource!.type, target)) > 0);
      });
    }
  }

  for (const { definition, name } of dashboard.templating.list) {
    if (definition === undefined) continue;
    test(`has values for the variable ${name}`, async () => {
      const { label, selector } = /^label_values\((?<selector>.*), (?<label>\w+)\)$/.exec(definition)!.groups!;
      const { data } = (await json("prometheus", `/api/v1/label/${label}/values`, {
        "match[]": filled(selector!),
      })) as {
        data: unknown[];
      };
      assert.ok(data.length > 0);
    });
  }
});
