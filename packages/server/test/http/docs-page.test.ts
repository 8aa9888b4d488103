/** The page at `/docs`: it loads one script of this server, which browsers cache, and nothing else. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operations } from "../../src/api/index.ts";
import { toOpenApi } from "../../src/api/openapi.ts";
import { docsRoutes } from "../../src/status/docs-routes.ts";
import { renderDocsPage } from "../../src/status/docs-page.ts";
import { startTestHttp } from "../support/test-http.ts";

const start = () => startTestHttp({ routes: docsRoutes(toOpenApi(operations, "0")) });

/** The value of an attribute of the page's elements, in their order. */
const valuesOf = (page: string, name: string): string[] =>
  [...page.matchAll(new RegExp(String.raw` ${name}="(?<value>[^"]*)"`, "g"))].map(({ groups }) => groups!["value"]!);

describe("the page at /docs", () => {
  test("refers only to resources of its own server, and its policy allows no others", async () => {
    await using server = await start();
    const response = await fetch(`${server.url}/docs`);
    const page = await response.text();
    const resources = ["src", "href", "data-url"].flatMap((name) => valuesOf(page, name));
    assert.deepEqual(
      resources.map((resource) => resource.replace(/\?v=[0-9a-f]{12}$/, "")),
      ["docs/api-reference.js", "data:,", "openapi.json", "openapi.json"],
    );
    const policy = response.headers.get("content-security-policy")!;
    assert.match(policy, /^default-src 'none'; script-src 'self'; /);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
  });

  test("configures the reference without its vendor's services", async () => {
    const [configuration] = valuesOf(renderDocsPage("script.js"), "data-configuration");
    const settings = JSON.parse(configuration!.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) as object;
    const { agent, mcp, telemetry, withDefaultFonts } = settings as Record<string, unknown>;
    assert.deepEqual([agent, mcp], [{ disabled: true }, { disabled: true }]);
    assert.deepEqual([telemetry, withDefaultFonts], [false, false]);
  });

  test("loads a compressed script that browsers cache", async () => {
    await using server = await start();
    const [path] = valuesOf(await (await fetch(`${server.url}/docs`)).text(), "src");
    const url = `${server.url}/${path!}`;
    const compressed = await fetch(url, { headers: { "accept-encoding": "br, gzip" } });
    const plain = await fetch(url, { headers: { "accept-encoding": "gzip;q=0" } });
    for (const { status, headers } of [compressed, plain]) {
      assert.equal(status, 200);
      assert.match(headers.get("content-type")!, /^text\/javascript/);
      assert.match(headers.get("cache-control")!, /immutable/);
      assert.equal(headers.get("vary"), "accept-encoding");
    }
    assert.deepEqual(
      [compressed, plain].map(({ headers }) => headers.get("content-encoding")),
      ["gzip", null],
    );
    assert.ok(Number(compressed.headers.get("content-length")) * 3 < Number(plain.headers.get("content-length")));
    const script = await plain.text();
    assert.equal(await compressed.text(), script);
    assert.match(script, /createApiReference/);
  });

  test("reports what is missing if the script is not installed", () => {
    const page = renderDocsPage(undefined);
    assert.match(page, /npm ci/);
    assert.match(page, /href="openapi\.json"/);
    assert.doesNotMatch(page, /<script/);
  });
});
