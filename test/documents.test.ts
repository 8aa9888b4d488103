/** Runs, loads or parses every example of the documents. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { compileGroup } from "../packages/server/src/alert-rules/compile-group.ts";
import { resolveConfig } from "../packages/server/src/config/load-config.ts";
import { formatProblem } from "../packages/server/src/config/problem.ts";
import { parseYaml } from "../packages/server/src/config/yaml-file.ts";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { embedNumbers } from "./support/embedding-upstream.ts";
import { repository } from "./support/served-process.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { needs, python } from "./support/needs.ts";
import { childEnvironment } from "./support/child-environment.ts";
import { command } from "./support/command.ts";

const run = promisify(execFile);

interface Example {
  readonly file: string;
  readonly language: string;
  readonly code: string;
}

async function examplesOf(file: string): Promise<Example[]> {
  const text = await readFile(join(repository, file), "utf8");
  return [...text.matchAll(/^```(?<language>\w+)\n(?<code>.*?)^```$/gms)].map(({ groups }) => ({
    file,
    language: groups!["language"]!,
    code: groups!["code"]!,
  }));
}

async function shellExamplesOf(file: string): Promise<Example[]> {
  return (await examplesOf(file)).filter(({ language }) => language === "sh");
}

async function allExamples(): Promise<Example[]> {
  const pages = await readdir(join(repository, "docs"), { recursive: true });
  const files = ["README.md", ...pages.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
  return (await Promise.all(files.map(examplesOf))).flat();
}

const examples = await allExamples();
const named = (example: Example): string => `${example.file}: ${example.code.split("\n", 1)[0]!.slice(0, 60)}`;

describe("an example of configuration loads", () => {
  // Pages under docs/use show the configuration of other programs.
  for (const example of examples.filter(({ file, language }) => language === "yaml" && !file.startsWith("docs/use/"))) {
    test(named(example), async () => {
      // Any variable may be named; all have a value here.
      const env = new Proxy<Record<string, string>>(
        {},
        {
          get: (_target, name) =>
            /^[A-Z_]+_WEBHOOK_SECRET$/.test(String(name))
              ? `whsec_${"x".repeat(40)}`
              : /^[A-Z_]+(?:_KEY|_KEY_ID|_PASSWORD|_CLIENT_SECRET)$/.test(String(name))
                ? `sk-${"x".repeat(40)}`
                : undefined,
          has: () => false,
          ownKeys: () => [],
        },
      );
      const { config, problems } = resolveConfig({ file: parseYaml("example.yaml", example.code), env });
      assert.deepEqual(problems.map(formatProblem), []);
      for (const { definition } of config!.alertGroups) {
        const compiled = await compileGroup(definition);
        assert.deepEqual("problems" in compiled ? compiled.problems : [], []);
      }
    });
  }
});

describe("an example of JSON is JSON", () => {
  for (const example of examples.filter(({ language }) => language === "json")) {
    test(named(example), () => assert.doesNotThrow(() => JSON.parse(example.code)));
  }
});

interface ShellOptions {
  /** The folder's files by name. Its scripts find the packages that are installed here. */
  readonly files?: Readonly<Record<string, string>>;
  /** Replaces the example's key; by default the operator's. */
  readonly secret?: string;
}

/** Runs code in a shell with the command `sounding` and the names of the examples pointing to the test's server. */
async function inShell(
  code: string,
  server: RunningServer,
  { files = {}, secret = server.operatorKey }: ShellOptions = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sounding-docs-"));
  try {
    const commands = { node: "", sounding: `"${command}"` };
    for (const [name, script] of Object.entries(commands)) {
      const file = join(folder, name);
      await writeFile(file, `#!/bin/sh\nexec "${process.execPath}" ${script} "$@"\n`);
      await chmod(file, 0o755);
    }
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const script = code
      // In one pass: a replacement may start with the text of another address.
      .replaceAll(/https:\/\/sounding\.example\.com|http:\/\/127\.0\.0\.1:4141/g, server.url)
      .replaceAll("sk-…", secret);
    const env = {
      ...childEnvironment,
      PATH: `${folder}:${process.env["PATH"]}`,
      SOUNDING_BASE_URL: server.url,
      SOUNDING_API_KEY: server.key,
      SOUNDING_ADMIN_KEY: server.operatorKey,
      SOUNDING_DATA_DIR: server.dataDirectory,
    };
    const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: folder, env });
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("an example for the shell runs", () => {
  test("docs/administer/README.md: the commands", async () => {
    await using server = await startServer();
    const [commands] = await shellExamplesOf("docs/administer/README.md");
    // The page shows a key's identifier; here it is that of the key just created.
    const code = commands!.code.replace(
      /key_[0-9a-f]{32}/,
      "$(sounding key list -o acme --json | grep -o 'key_[0-9a-f]*' | head -n 1)",
    );
    const printed = await inShell(code, server);
    assert.match(printed, /laptop/);
    assert.match(printed, /600/);
  });

  test(
    "docs/observability/logs-and-traces.md: something to look at, and the query string",
    { skip: needs("curl") },
    async () => {
      await using server = await startServer("", { telemetry: true });
      await untilTelemetryReady(server);
      const shell = (await examplesOf("docs/observability/logs-and-traces.md")).filter(
        ({ language }) => language === "sh",
      );
      assert.equal(shell.length, 3);
      // A random hour may have no failure.
      const seeded = shell[0]!.code.replace("sounding demo", "sounding demo --seed 7");
      const [seen, asked] = [await inShell(seeded, server), await inShell(shell[1]!.code, server)];
      assert.match(await inShell(shell[2]!.code, server), /"object":"chat\.completion"/);
      assert.match(seen, /POST \/chat +support-web/);
      assert.match(seen, /ERROR +demo\/support-/);
      assert.match(asked, /"rootTraceName":"POST \/chat"/);
    },
  );

  test("docs/observability/send-telemetry.md: an application with OpenTelemetry's SDK, whose trace is visible", async () => {
    await using server = await startServer("", { telemetry: true });
    await untilTelemetryReady(server);
    const page = await examplesOf("docs/observability/send-telemetry.md");
    const application = page.find(({ language }) => language === "js")!.code;
    const commands = page.find(({ language }) => language === "sh")!.code;
    const printed = await inShell(commands, server, { files: { "app.mjs": application }, secret: server.key });
    assert.match(printed, /answer a customer +support-bot/);
  });

  test("docs/administer/README.md: the admin API", { skip: needs("curl") }, async () => {
    await using server = await startServer();
    const [, call] = await shellExamplesOf("docs/administer/README.md");
    const answer = JSON.parse(await inShell(call!.code.replace("curl ", "curl --silent "), server)) as {
      secret: string;
    };
    assert.match(answer.secret, /^sk-/);
  });
});

test("an example for the shell runs: docs/speech/README.md: the command", async () => {
  await using server = await startServer();
  const block = (await examplesOf("docs/speech/README.md")).find(({ code }) => code.includes("sounding speak"));
  assert.match(await inShell(`${block!.code}\ntest -s hello.mp3`, server), /word +world$/m);
});

test(
  "an example for the shell runs: docs/transcription/README.md: the command",
  { skip: needs("pocketsphinx") },
  async () => {
    await using server = await startServer();
    const block = (await examplesOf("docs/transcription/README.md")).find(({ code }) =>
      code.includes("sounding transcribe"),
    );
    const spoken = "sounding speak --voice rms -o talk.wav 'A fathom is six feet.'";
    assert.match(await inShell(`${spoken}\n${block!.code}`, server), /^1\n00:00:.* --> .*\n.*six feet/);
  },
);

describe("an example of transcription runs", { skip: needs("curl", "pocketsphinx") }, () => {
  const file = `curl --silent "$SOUNDING_BASE_URL/v1/audio/speech" -H "Authorization: Bearer $SOUNDING_API_KEY" -o hello.mp3 \\
    -H "Content-Type: application/json" -d '{"model": "flite", "voice": "rms", "input": "Good morning.", "response_format": "mp3"}'
cp hello.mp3 talk.wav
`;
  for (const example of examples.filter(
    ({ language, code }) => language === "sh" && code.includes("/v1/audio/transcriptions"),
  )) {
    test(named(example), async () => {
      await using server = await startServer();
      const printed = await inShell(file + example.code.replace("curl ", "curl --silent "), server);
      assert.match(printed, example.code.includes("stream=true") ? /morning.*data: \[DONE\]/s : /"word":"morning"/);
    });
  }
});

describe("an example in TypeScript runs", () => {
  for (const example of examples.filter(({ file, language }) => file === "README.md" && language === "ts")) {
    test(named(example), async () => {
      await using server = await startServer();
      const script = join(repository, "test/examples", `readme-${process.pid}-${examples.indexOf(example)}.ts`);
      try {
        await writeFile(script, example.code.replaceAll("http://127.0.0.1:4141", server.url));
        const env = { ...childEnvironment, SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key };
        const { stdout } = await run(process.execPath, [script], { env });
        assert.match(stdout, /sounding-trial/);
      } finally {
        await rm(script, { force: true });
      }
    });
  }

  test("every file of test/examples", async (context) => {
    const upstream = await startScriptedUpstream(embedNumbers("base64"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => upstream.close());
    const engine = `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: [texts] }`;
    const configuration = `engines: { gpu: ${engine} }\n`;
    const server = stack.use(await startServer(configuration, { telemetry: true }));
    await untilTelemetryReady(server);
    const files = (await readdir(join(repository, "test/examples"))).filter((name) => /^[a-z]+\.ts$/.test(name));
    assert.ok(files.length >= 4);
    // Some write files.
    const cwd = await mkdtemp(join(tmpdir(), "sounding-examples-"));
    for (const file of files) {
      const skip = file === "transcribe.ts" && needs("pocketsphinx");
      await context.test(file, { skip }, async () => {
        const keys = { SOUNDING_API_KEY: server.key, SOUNDING_ADMIN_KEY: server.operatorKey };
        const env = { ...childEnvironment, SOUNDING_BASE_URL: server.url, ...keys };
        await run(process.execPath, [join(repository, "test/examples", file)], { env, cwd });
      });
    }
    await rm(cwd, { recursive: true });
  });
});

describe("an example in Python runs", async () => {
  for (const file of ["openai_sdk.py", "anthropic_sdk.py", "ai_refinery_sdk.py"]) {
    test(`test/examples/${file}`, { skip: needs("python") }, async () => {
      await using server = await startServer("", { telemetry: true });
      await untilTelemetryReady(server);
      const env = { ...process.env, SOUNDING_BASE_URL: server.url, SOUNDING_API_KEY: server.key, AIR_SILENT: "1" };
      const script = join(repository, "test/examples", file);
      await run(python, [script], { env, cwd: server.dataDirectory });
    });
  }
});
