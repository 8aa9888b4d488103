import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { failure, json, startScriptedServer, type Answer } from "../../client/test/scripted-server.ts";
import { runSounding } from "./run-sounding.ts";

const directory = mkdtempSync(join(tmpdir(), "sounding-doctor-"));
after(() => rmSync(directory, { recursive: true }));
const server = await startScriptedServer();

interface Finding {
  readonly area: string;
  readonly status: string;
  readonly message: string;
  readonly advice?: string;
}

let configurations = 0;

/** Runs with this configuration; its data folder and port are fresh unless it sets them. */
async function doctor(yaml = "", env: Record<string, string> = {}, options: readonly string[] = []) {
  configurations += 1;
  const path = join(directory, `${configurations}.yaml`);
  writeFileSync(path, yaml);
  const words = ["doctor", "--config", path, "--json", ...options];
  const { code, stdout } = await runSounding(words, {
    env: { PATH: "/nowhere", SOUNDING_DATA_DIR: join(directory, `data-${configurations}`), ...env },
  });
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  const find = (area: string): Finding | undefined => findings.find((each) => each.area === area);
  return { code, ok, findings, find, status: (area: string) => find(area)?.status };
}

async function takenPort(): Promise<number> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  after(() => taken.close());
  return (taken.address() as AddressInfo).port;
}

/** Answers as a server with these models would, each of an engine with its name. */
function running(models: Record<string, string[]>, checks: Record<string, string> = {}, status = "ok"): Answer {
  return (response, request) => {
    const { searchParams } = new URL(request.url, server.url);
    const ids = models[searchParams.get("capability") ?? ""] ?? [];
    const health = { status, checks: { control_database: "ok", ...checks } };
    const list = {
      object: "list",
      data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: "x", engine: id })),
    };
    return json(request.url === "/readyz" ? health : list)(response, request);
  };
}

describe("sounding doctor", () => {
  test("changes nothing and reports no problem on a healthy installation", async () => {
    const { code, ok, status, find } = await doctor("server: { port: 0 }", { SOUNDING_BASE_URL: "http://127.0.0.1:1" });
    assert.deepEqual([code, ok], [0, true]);
    for (const area of ["Node", "configuration", "data folder", "disk", "control database", "server"]) {
      assert.equal(status(area), "ok", area);
    }
    assert.match(find("server")!.message, /no server runs at http:\/\/127\.0\.0\.1:1/);
    assert.ok(!readdirSync(directory).includes(`data-${configurations}`));
  });

  test("a server that --url names must respond", async () => {
    const { code, find } = await doctor("server: { port: 0 }", {}, ["--url", "http://127.0.0.1:1"]);
    assert.equal(code, 1);
    assert.equal(find("server")!.status, "failed");
    assert.equal(find("server")!.message, "no server responds at http://127.0.0.1:1");
  });

  test("reports every mistake in the configuration", async () => {
    const { code, findings } = await doctor("server: { port: -1, hots: a }");
    assert.equal(code, 8);
    const mistakes = findings.filter(({ area, status }) => area === "configuration" && status === "failed");
    assert.equal(mistakes.length, 2);
    assert.match(mistakes.map(({ message }) => message).join(), /port.*hots|hots.*port/s);
  });

  test("reports a port in use, and another program that answers on it", async () => {
    const port = await takenPort();
    server.answer((response) => void response.writeHead(404).end("not here"));
    const { code, find } = await doctor(`server: { port: ${port} }`, { SOUNDING_BASE_URL: server.url });
    assert.equal(code, 1);
    assert.match(find("port")!.message, /is used by another program/);
    assert.match(find("port")!.advice!, /server\.port or --port/);
    assert.match(find("server")!.message, /a server other than Sounding responds/);
  });

  test("reports a damaged control database and an impossible data folder", async () => {
    const data = join(directory, "damaged");
    mkdirSync(data);
    writeFileSync(
      join(data, "control.sqlite"),
      "not a database, but long enough to look like a file of one".repeat(100),
    );
    const damaged = await doctor("server: { port: 0 }", { SOUNDING_DATA_DIR: data });
    assert.deepEqual([damaged.code, damaged.status("control database")], [1, "failed"]);
    const file = join(directory, "a-file");
    writeFileSync(file, "");
    const impossible = await doctor("server: { port: 0 }", { SOUNDING_DATA_DIR: join(file, "data") });
    assert.deepEqual([impossible.code, impossible.status("data folder")], [1, "failed"]);
  });

  test("reports unreachable databases", async () => {
    const { status } = await doctor("telemetry: { clickhouse: { url: 'http://127.0.0.1:1' } }\nserver: { port: 0 }", {
      DATABASE_URL: "postgres://u:secret@127.0.0.1:1/db",
    });
    assert.deepEqual([status("control database"), status("telemetry store")], ["failed", "failed"]);
  });

  test("warns of an address of ClickHouse that does not respond while another one does", async () => {
    server.answer((response) => void response.end("Ok."));
    const url = [server.url, "http://127.0.0.1:1"];
    const { findings } = await doctor(
      `telemetry: { clickhouse: { url: ${JSON.stringify(url)} } }\nserver: { port: 0 }`,
    );
    assert.deepEqual(
      findings.filter(({ area }) => area === "telemetry store").map(({ status, advice }) => [status, advice]),
      [
        ["ok", undefined],
        ["warning", "1 of 2 addresses respond."],
      ],
    );
  });

  test("asks a running server for its health, and its models with the key", async () => {
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: "sk-test" };
    server.answer(running({ chat: ["sounding-trial"], speech: ["flite", "espeak-ng"], transcription: [] }));
    const { code, find, status } = await doctor("", env);
    assert.equal(code, 0);
    assert.deepEqual(["server", "key", "chat", "speech", "transcription"].map(status), [
      "ok",
      "ok",
      "warning",
      "ok",
      "warning",
    ]);
    assert.match(find("chat")!.advice!, /OPENAI_API_KEY/);
    assert.match(find("transcription")!.advice!, /PocketSphinx.*`sounding models pull`/);
    assert.equal(find("speech")!.message, "flite, espeak-ng");

    for (const [transcription, state] of [
      [["pocketsphinx"], "warning"],
      [["sphinx"], "warning"],
      [["pocketsphinx", "whisper-tiny.en"], "ok"],
    ] as const) {
      server.answer(running({ transcription: [...transcription] }));
      const { find: found } = await doctor("engines: { sphinx: { type: pocketsphinx } }", env);
      assert.equal(found("transcription")!.status, state);
      if (state === "warning") assert.match(found("transcription")!.advice!, /sounding models pull whisper-tiny\.en/);
    }

    server.answer(running({}, { telemetry_store: "Telemetry is switched off." }));
    assert.equal((await doctor("", env)).status("server"), "warning");
    server.answer(running({}, { telemetry_store: "it does not answer" }, "unavailable"));
    const unwell = await doctor("", env);
    assert.deepEqual([unwell.code, unwell.status("server")], [1, "failed"]);
  });

  test("distinguishes a missing key from a wrong one", async () => {
    server.answer(running({}));
    assert.equal((await doctor("", { SOUNDING_BASE_URL: server.url })).status("key"), "warning");
    server.answer(running({}), failure(401, {}, { message: "The key is unknown." }));
    const wrong = await doctor("", { SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: "sk-wrong" });
    assert.deepEqual([wrong.code, wrong.find("key")!.message], [1, "The key is unknown."]);
  });

  test("looks for programs and for PocketSphinx", async () => {
    const bin = join(directory, "bin");
    mkdirSync(bin);
    for (const program of ["aplay", "arecord", "espeak-ng"]) {
      writeFileSync(join(bin, program), "#!/bin/sh\n");
      chmodSync(join(bin, program), 0o755);
    }
    const yaml =
      "engines: { sphinx: { type: pocketsphinx, library: /nowhere/libpocketsphinx.so } }\nserver: { port: 0 }";
    const { status, find } = await doctor(yaml, { PATH: bin });
    assert.deepEqual(["player", "microphone", "espeak-ng"].map(status), ["ok", "ok", "ok"]);
    assert.match(find("player")!.message, /^aplay /);
    assert.match(find("PocketSphinx")!.message, /not installed at \/nowhere\/libpocketsphinx\.so.*apt-get install/);
    const without = await doctor("server: { port: 0 }");
    assert.deepEqual(["player", "microphone", "espeak-ng"].map(without.status), ["warning", "warning", "warning"]);
  });

  test("suggests a fix under each finding", async () => {
    const { stdout } = await runSounding(["doctor"], { env: { PATH: "/nowhere", SOUNDING_DATA_DIR: directory } });
    assert.match(stdout, /^ok {7}Node: Node /m);
    assert.match(stdout, /^warning {2}player: .*\n {9}Install one of them\./m);
  });
});
