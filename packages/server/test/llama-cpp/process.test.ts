/** The model's process may crash, be unloaded or be orphaned; the server keeps running. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { silentLogger } from "../../src/logger.ts";
import { createLlamaCppEngine, trialEngineSettings } from "../../src/engines/llama-cpp/engine.ts";
import { callOf, contentOf, startTrialEngine, type TrialEngine } from "./trial-engine.ts";
import { childProcesses } from "../../../../test/support/child-processes.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { onlyOnLinux } from "../../../../test/support/needs.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

/** Processes of models that this process, or the given one, started. */
function modelProcesses(parent?: number): number[] {
  return childProcesses(/llama-cpp\/child\/main/, parent);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("the process of a model", () => {
  test("is started by the first call and ended by close", { skip: onlyOnLinux }, async () => {
    const trial = await startTrialEngine();
    assert.deepEqual(modelProcesses(), []);
    await trial.complete({ max_tokens: 1 });
    assert.equal(modelProcesses().length, 1);
    await trial.close();
    assert.deepEqual(modelProcesses(), []);
    await assert.rejects(trial.complete(), { code: "overloaded" });
  });

  test(
    "gets neither API keys nor other settings of the server, but the variables that a GPU needs",
    { skip: onlyOnLinux },
    async () => {
      const given = {
        OPENAI_API_KEY: "sk-very-secret",
        NVIDIA_API_KEY: "nvapi-very-secret",
        DATABASE_URL: "postgres://user:very-secret@host/db",
        CUDA_VISIBLE_DEVICES: "0",
      };
      Object.assign(process.env, given);
      const trial = await startTrialEngine();
      try {
        await trial.complete({ max_tokens: 1 });
        const environment = await readFile(`/proc/${modelProcesses()[0]}/environ`, "utf8");
        assert.doesNotMatch(environment, /secret|API_KEY|DATABASE_URL/);
        assert.match(environment, /CUDA_VISIBLE_DEVICES=0/);
        const oomScore = await readFile(`/proc/${modelProcesses()[0]}/oom_score_adj`, "utf8");
        assert.equal(oomScore.trim(), "500", "the kernel should end it before the server");
      } finally {
        for (const name of Object.keys(given)) delete process.env[name];
        await trial.close();
      }
    },
  );

  test("may be killed: the running call fails and the next one is answered", { skip: onlyOnLinux }, async () => {
    const trial = await startTrialEngine("endless", { context_size: 32_768 });
    try {
      let chunks = 0;
      const read = async (): Promise<void> => {
        for await (const chunk of trial.stream()) {
          assert.ok(chunk);
          if (++chunks === 20) process.kill(modelProcesses()[0]!, "SIGKILL");
        }
      };
      await assert.rejects(read(), { code: "upstream_failed" });
      assert.equal((await trial.complete({ max_tokens: 3 })).usage?.completion_tokens, 3);
    } finally {
      await trial.close();
    }
  });

  test("is unloaded when idle, and loaded again", { skip: onlyOnLinux }, async () => {
    const trial = await startTrialEngine("default", { idle_unload_ms: 50 });
    try {
      await trial.complete({ max_tokens: 1 });
      await until(() => modelProcesses().length === 0);
      assert.equal((await trial.complete({ max_tokens: 2 })).usage?.completion_tokens, 2);
    } finally {
      await trial.close();
    }
  });

  test("is started before the first call with preload", { skip: onlyOnLinux }, async () => {
    const trial = await startTrialEngine("default", { preload: true });
    try {
      await until(() => modelProcesses().length === 1);
    } finally {
      await trial.close();
    }
  });
});

describe("a process that stays", () => {
  let trial: TrialEngine;
  beforeTests(async (stack) => {
    trial = await startTrialEngine("default", { parallel: 4, queue_limit: 100 });
    stack.defer(() => trial.close());
  });

  test("serves many concurrent calls and loses none", async () => {
    const calls = Array.from({ length: propertyRuns(60) }, (_, seed) => trial.complete({ seed }));
    const completions = await Promise.all(calls);
    const alone = await trial.complete({ seed: 17 });
    assert.equal(contentOf(completions[17]!), contentOf(alone));
    assert.ok(completions.every(({ choices }) => choices[0]?.finish_reason === "stop"));
  });

  test("leaves the server's memory unchanged", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const round = () => Promise.all(Array.from({ length: 30 }, () => trial.complete({ max_tokens: 4 })));
    await round();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const rounds = propertyRuns(40);
    for (let count = 0; count < rounds; count++) await round();
    collectGarbage();
    const grownKiB = (process.memoryUsage().heapUsed - before) / 2 ** 10 / (30 * rounds);
    assert.ok(grownKiB < 4, `${grownKiB.toFixed(1)} KiB more for each call`);
  });
});

test("a file that is not a model fails the call, and further calls with the same reason", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sounding-llama-"));
  const file = join(directory, "broken.gguf");
  await writeFile(file, "GGUF, but not really");
  const engine = await createLlamaCppEngine(
    "local",
    { type: "llama_cpp", models: { broken: { file, gpu: false, threads: 1 }, absent: { file: "no/such/model.gguf" } } },
    { logger: silentLogger, dataDirectory: directory },
  );
  try {
    for (const id of ["broken", "absent"]) {
      const model = engine.chat!(id)!;
      await assert.rejects(model.complete(callOf({})), (error: Error & { code: string }) => {
        assert.equal(error.code, "upstream_failed");
        assert.ok(!error.message.includes(directory), "paths of the server stay in its log");
        return true;
      });
      for (let call = 0; call < 3; call++)
        await assert.rejects(model.complete(callOf({})), { code: "upstream_failed", lasting: true });
    }
    assert.throws(() => engine.chat!("other"), { code: "model_not_found", param: "model" });
    const listed = await engine.listModels(new AbortController().signal);
    assert.deepEqual(
      listed.map(({ id, ownedBy }) => [id, ownedBy]),
      [
        ["broken", "local"],
        ["absent", "local"],
      ],
    );
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});

test("without configuration the trial model is written to the data directory and answers", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sounding-llama-"));
  const engine = await createLlamaCppEngine("trial", trialEngineSettings, {
    logger: silentLogger,
    dataDirectory: directory,
  });
  try {
    const completion = await engine.chat!("sounding-trial")!.complete(callOf({ temperature: 0 }));
    assert.match(contentOf(completion), /^I am sounding-trial/);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});

test("the process ends when its server is killed", { skip: onlyOnLinux }, async () => {
  const script = fileURLToPath(new URL("orphan.ts", import.meta.url));
  const server = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const [directory] = (await once(createInterface(server.stdout), "line")) as [string];
  const [model] = modelProcesses(server.pid);
  assert.ok(model !== undefined);
  server.kill("SIGKILL");
  await until(() => !isRunning(model));
  await rm(directory, { recursive: true });
});
