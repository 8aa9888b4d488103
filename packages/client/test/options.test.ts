import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { AsyncSounding, clientVersion, ConfigurationError, type ClientOptions } from "@sounding/client";
import { json, startScriptedServer, type ReceivedRequest } from "./scripted-server.ts";

const server = await startScriptedServer();
const runNode = promisify(execFile);

async function requestWith(options: ClientOptions): Promise<ReceivedRequest> {
  server.answer(json({ object: "list", data: [] }));
  await new AsyncSounding({ apiKey: "sk-test", baseUrl: server.url, ...options }).models.list();
  return server.requests[0]!;
}

describe("a client", () => {
  test("sends its key, its version and its user agent", async () => {
    const { headers } = await requestWith({});
    assert.equal(headers.authorization, "Bearer sk-test");
    assert.equal(headers["sdk_version"], clientVersion);
    assert.equal(headers["user-agent"], `sounding-client/${clientVersion} node/${process.versions.node}`);
    assert.equal(headers["x-account"], undefined);
  });

  test("has the version of its package", () => {
    const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    assert.equal(clientVersion, manifest.version);
  });

  test("sends account, project and default headers, which a call may override or remove", async () => {
    const client = new AsyncSounding({
      apiKey: "sk-test",
      baseUrl: server.url,
      account: "acme",
      project: "tides",
      defaultHeaders: { "X-One": "1", "X-Two": "2" },
    });
    server.answer(json({ object: "list", data: [] }));
    await client.models.list({ headers: { "x-one": "eins", "X-TWO": null } });
    const { headers } = server.requests[0]!;
    assert.deepEqual(
      [headers["x-account"], headers["x-project"], headers["x-one"], headers["x-two"]],
      ["acme", "tides", "eins", undefined],
    );
  });

  test("accepts the snake_case names", async () => {
    server.answer(json({ object: "list", data: [] }));
    await new AsyncSounding({
      api_key: "sk-snake",
      base_url: new URL(server.url),
      default_headers: { "x-one": "1" },
      max_retries: 0,
    }).models.list();
    const { headers } = server.requests[0]!;
    assert.deepEqual([headers.authorization, headers["x-one"]], ["Bearer sk-snake", "1"]);
  });

  test("accepts a base URL with a path, trailing slashes or /v1", async () => {
    for (const [end, url] of [
      ["/", "/v1/models"],
      ["/v1", "/v1/models"],
      ["/v1/", "/v1/models"],
      ["/gateway/v1", "/gateway/v1/models"],
    ] as const) {
      assert.equal((await requestWith({ baseUrl: server.url + end })).url, url);
    }
  });

  test("uses the `fetch` that it is given", async () => {
    const asked: string[] = [];
    const client = new AsyncSounding({
      apiKey: "sk-test",
      fetch: async (input) => {
        asked.push(new Request(input).url);
        return Response.json({ object: "list", data: [] });
      },
    });
    await client.models.list();
    assert.deepEqual(asked, ["http://127.0.0.1:4141/v1/models"]);
  });

  for (const [title, options, message] of [
    ["no key", { apiKey: "" }, /SOUNDING_API_KEY/],
    ["a key with a space", { apiKey: "sk one" }, /visible ASCII/],
    ["both names of an option", { apiKey: "sk-a", api_key: "sk-b" }, /`apiKey` and `api_key` are the same/],
    ["an address that is none", { apiKey: "sk-a", baseUrl: "sounding" }, /"sounding"/],
    ["an address of another protocol", { apiKey: "sk-a", baseUrl: "ftp://sounding.example" }, /ftp/],
    [
      "an address with a query",
      { apiKey: "sk-a", baseUrl: "http://sounding.example/?a=1" },
      /must not contain a user name, a query/,
    ],
    [
      "a timeout in milliseconds",
      { apiKey: "sk-a", timeout: 600_000 },
      /600000; it must be more than 0 and at most 86400 seconds/,
    ],
    ["no time at all", { apiKey: "sk-a", timeout: 0 }, /more than 0/],
    ["half a retry", { apiKey: "sk-a", maxRetries: 0.5 }, /0\.5/],
  ] as const satisfies readonly (readonly [string, ClientOptions, RegExp])[]) {
    test(`cannot be created with ${title}`, () => {
      assert.throws(
        () => new AsyncSounding(options),
        (error) => error instanceof ConfigurationError && message.test(error.message),
      );
    });
  }

  test("refuses a header that HTTP cannot carry, without revealing its value", async () => {
    const client = new AsyncSounding({ apiKey: "sk-test", defaultHeaders: { "x-one": "secret\nline" } });
    await assert.rejects(
      async () => client.models.list(),
      (error) => error instanceof ConfigurationError && /x-one/.test(error.message) && !/secret/.test(error.message),
    );
  });

  test("refuses an invalid fresh key and a failing key function without sending anything", async () => {
    server.answer(json({}));
    for (const apiKey of [
      async () => "",
      () => {
        throw new Error("vault closed");
      },
    ]) {
      const client = new AsyncSounding({ apiKey, baseUrl: server.url });
      await assert.rejects(client.models.list(), ConfigurationError);
    }
    assert.equal(server.requests.length, 0);
  });
});

describe("the environment", () => {
  const script = `
    import { AsyncSounding } from "@sounding/client";
    new AsyncSounding();
    await new AsyncSounding().models.list();`;

  test("provides key and address, and a legacy variable causes one warning", async () => {
    server.answer(json({ object: "list", data: [] }));
    const { stderr } = await runNode(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: import.meta.dirname,
      env: { SOUNDING_API_KEY: "sk-env", SOUNDING_BASE_URL: server.url, USE_AIR_API_V2_BASE_URL: "true" },
    });
    assert.equal(server.requests[0]!.headers.authorization, "Bearer sk-env");
    assert.equal(stderr.match(/USE_AIR_API_V2_BASE_URL/g)?.length, 1);
  });
});

describe("the package's main entry", () => {
  test("imports no runtime module and nothing from outside the package", () => {
    const seen = new Set<string>();
    const visit = (url: URL): void => {
      if (seen.has(url.href)) return;
      seen.add(url.href);
      const source = readFileSync(url, "utf8").replaceAll(/\/\*.*?\*\//gs, "");
      for (const [, specifier] of source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
        assert.match(specifier!, /^\.\.?\//, `${url.pathname} imports ${specifier}`);
        visit(new URL(specifier!, url));
      }
      assert.doesNotMatch(source, /\bBuffer\b|\brequire\(|import\.meta|\b__dirname\b|setImmediate/);
    };
    visit(new URL("../src/index.ts", import.meta.url));
    assert.ok(seen.size > 10);
  });
});
