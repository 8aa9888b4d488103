import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { startServer } from "../../../test/support/running-server.ts";
import { runSounding } from "./run-sounding.ts";

const directory = mkdtempSync(join(tmpdir(), "sounding-voices-"));
after(() => rmSync(directory, { recursive: true }));

interface Voice {
  readonly name: string;
  readonly model: string;
  readonly languages: readonly string[];
}

describe("sounding voices", () => {
  test("lists voices, filters them by language and plays a sample", async () => {
    await using server = await startServer();
    const programs = join(directory, "programs");
    const heard = join(directory, "heard.raw");
    mkdirSync(programs);
    writeFileSync(join(programs, "aplay"), `#!/bin/sh\nexec /bin/cat > '${heard}'\n`);
    chmodSync(join(programs, "aplay"), 0o755);
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key, PATH: programs, PULSE_SERVER: "stub" };

    const table = await runSounding(["voices", "--model", "flite"], { env });
    assert.equal(table.code, 0, table.stderr);
    assert.match(table.stdout, /^VOICE +MODEL +LANGUAGES +GENDER +DESCRIPTION\n/);
    assert.match(table.stdout, /^slt +flite +en-US +female +American English/m);
    const british = await runSounding(["voices", "--model", "flite", "--language", "en-GB", "--json"], { env });
    assert.deepEqual(
      (JSON.parse(british.stdout) as Voice[]).map(({ name, model }) => [name, model]),
      [["awb", "flite"]],
    );

    const played = await runSounding(["voices", "--play", "SLT", "--json"], { env });
    assert.equal(played.code, 0, played.stderr);
    assert.equal((JSON.parse(played.stdout) as Voice).name, "slt");
    assert.ok(readFileSync(heard).length > 10_000);

    rmSync(heard);
    const unknown = await runSounding(["voices", "--play", "nobody"], { env });
    assert.equal(unknown.code, 5);
    const mute = await runSounding(["voices", "--play", "slt"], { env: { ...env, PATH: directory } });
    assert.notEqual(mute.code, 0);
    assert.match(mute.stderr, /no audio player is installed/);
    assert.ok(!existsSync(heard));
  });
});
