import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import {
  chunk,
  completion,
  done,
  events,
  failure,
  json,
  startScriptedServer,
} from "../../client/test/scripted-server.ts";
import { runSounding, type Outcome, type RunOptions } from "./run-sounding.ts";

const server = await startScriptedServer();
const directory = mkdtempSync(join(tmpdir(), "sounding-chat-"));
after(() => rmSync(directory, { recursive: true }));

const answered = events([chunk("A fathom is "), chunk("six feet."), done]);

function chat(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, ...options.env };
  return runSounding(["chat", ...words], { ...options, env });
}

/** An address where nothing listens: its port was free a moment ago. */
async function unusedAddress(): Promise<string> {
  const closing = createServer().listen(0, "127.0.0.1");
  await once(closing, "listening");
  const { port } = closing.address() as AddressInfo;
  closing.close();
  await once(closing, "close");
  return `http://127.0.0.1:${port}`;
}

const nowhere = await unusedAddress();

function sent(index = 0): Record<string, unknown> {
  return JSON.parse(server.requests[index]!.body) as Record<string, unknown>;
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe("sounding chat", () => {
  test("sends all its options and streams the answer", async () => {
    server.answer(answered);
    const words = [
      "what is",
      "a fathom",
      "-m",
      "m",
      "--system",
      "Be brief.",
      "-t",
      "0.5",
      "--max-tokens=9",
      "--seed",
      "7",
    ];
    assert.deepEqual(await chat(words), { code: 0, stdout: "A fathom is six feet.\n", stderr: "" });
    assert.deepEqual(sent(), {
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "what is a fathom" },
      ],
      temperature: 0.5,
      max_completion_tokens: 9,
      seed: 7,
      stream: true,
    });
    assert.equal(server.requests[0]!.headers.authorization, "Bearer sk-test");
    assert.match(server.requests[0]!.headers["user-agent"]!, /^sounding-cli\//);
  });

  test("writes each chunk before the next one arrives", async () => {
    let release = (): void => undefined;
    const seen = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.answer(async (response, request) => {
      void events([chunk("first ")], true)(response, request);
      await seen;
      response.end(`data: ${JSON.stringify(chunk("second"))}\n\n${done}`);
    });
    const { stdout } = await chat(["hi", "-m", "m"], {
      during: ({ stdout }) => void once(stdout, "data").then(() => release()),
    });
    // The listener above consumes the first piece.
    assert.match(stdout, /second\n$/);
  });

  test("uses the first listed model if none is named", async () => {
    const model = { object: "model", created: 1, owned_by: "x" };
    server.answer(
      json({
        object: "list",
        data: [
          { id: "first", ...model },
          { id: "second", ...model },
        ],
      }),
      answered,
    );
    assert.equal((await chat(["hi"])).code, 0);
    assert.equal(sent(1)["model"], "first");
    server.answer(json({ object: "list", data: [] }));
    const none = await chat(["hi"]);
    assert.deepEqual([none.code, none.stderr], [5, "sounding: the server has no chat models\n"]);
  });

  test("sends piped input after the prompt", async () => {
    server.answer(answered);
    await chat(["-m", "m"], { input: "piped alone\n" });
    await chat(["-m", "m", "Sum up:"], { input: "piped text\n" });
    assert.deepEqual(
      server.requests.map((_request, index) => sent(index)["messages"]),
      [[{ role: "user", content: "piped alone" }], [{ role: "user", content: "Sum up:\n\npiped text" }]],
    );
  });

  test("adds text files and images", async () => {
    server.answer(answered);
    const notes = file("notes.txt", "tide tables\n");
    await chat(["-m", "m", "Explain.", "-f", notes]);
    await chat(["-m", "m", "Explain.", "-f", notes, "-f", file("dot.png", Uint8Array.of(137, 80))]);
    const text = `${notes}:\n\ntide tables\n\nExplain.`;
    assert.deepEqual(sent(0)["messages"], [{ role: "user", content: text }]);
    assert.deepEqual(sent(1)["messages"], [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,iVA=" } },
          { type: "text", text },
        ],
      },
    ]);
    const binary = await chat(["-m", "m", "-f", file("noise.bin", Uint8Array.of(255, 254, 0))]);
    assert.equal(binary.code, 1);
    assert.match(binary.stderr, /neither UTF-8 text nor an image/);
  });

  test("writes the whole answer with --no-stream, and the completion with --json", async () => {
    server.answer(json(completion("Six feet.")));
    assert.equal((await chat(["hi", "-m", "m", "--no-stream"])).stdout, "Six feet.\n");
    assert.equal(sent()["stream"], false);
    const { stdout } = await chat(["hi", "-m", "m", "--json"]);
    assert.deepEqual(JSON.parse(stdout), completion("Six feet."));
  });

  test("reports on stderr that the answer was truncated", async () => {
    server.answer(
      events([
        { ...(chunk("Six") as object), choices: [{ index: 0, delta: { content: "Six" }, finish_reason: "length" }] },
        done,
      ]),
    );
    const { code, stdout, stderr } = await chat(["hi", "-m", "m"]);
    assert.deepEqual([code, stdout], [0, "Six\n"]);
    assert.match(stderr, /token limit/);
  });

  test("reads the key from a file and the address from --url before the environment", async () => {
    server.answer(answered);
    const keyFile = file("key", "sk-from-file\n");
    const env = { SOUNDING_API_KEY: "sk-wrong", SOUNDING_BASE_URL: "http://127.0.0.1:1" };
    await chat(["hi", "-m", "m", "--key-file", keyFile, "--url", `${server.url}/v1`, "--project", "tides"], { env });
    assert.equal(server.requests[0]!.headers.authorization, "Bearer sk-from-file");
    assert.equal(server.requests[0]!.headers["x-project"], "tides");
  });

  for (const [title, words, options, code, stderr] of [
    ["nothing to ask", ["-m", "m"], {}, 2, /no prompt/],
    ["a temperature that is no number", ["hi", "-t", "hot"], {}, 2, /--temperature is "hot"; it must be a number/],
    ["an address that is none", ["hi", "--url", "sounding"], {}, 2, /"sounding"/],
    ["no key", ["hi"], { env: { SOUNDING_API_KEY: "" } }, 4, /set SOUNDING_API_KEY/],
    ["no key file", ["hi", "--key-file", "/nonexistent/key"], {}, 4, /\/nonexistent\/key cannot be read/],
    ["a server that is not there", ["hi", "-m", "m", "--url", nowhere], {}, 3, /ECONNREFUSED.*sounding serve/],
  ] as const satisfies readonly (readonly [string, readonly string[], RunOptions, number, RegExp])[]) {
    test(`fails with ${title} in one line and exit code ${code}`, async () => {
      const outcome = await chat(words, options);
      assert.equal(outcome.code, code);
      assert.match(outcome.stderr, stderr);
      assert.match(outcome.stderr, /^sounding: [^\n]+\n(Run `sounding[^\n]+\n)?$/);
      assert.equal(outcome.stdout, "");
    });
  }

  for (const [status, code] of [
    [400, 1],
    [401, 4],
    [403, 4],
    [404, 5],
    [429, 6],
    [503, 6],
    [504, 7],
  ] as const) {
    test(`exits with ${code} after status ${status}`, async () => {
      server.answer(failure(status, { "x-should-retry": "false", "x-request-id": "request-9" }));
      const outcome = await chat(["hi", "-m", "m"]);
      assert.equal(outcome.code, code);
      assert.match(outcome.stderr, new RegExp(`^sounding: refused with ${status}`));
      assert.equal(outcome.stderr.includes("request-9"), status >= 500);
    });
  }

  test("exits with 3 after an interrupted stream, with the text received so far", async () => {
    server.answer(events([chunk("A fathom")]));
    const { code, stdout, stderr } = await chat(["hi", "-m", "m"]);
    assert.deepEqual([code, stdout], [3, "A fathom\n"]);
    assert.match(stderr, /incomplete/);
  });

  test("exits with 7 on timeout", async () => {
    server.answer(() => undefined);
    assert.equal((await chat(["hi", "-m", "m", "--timeout", "0.2"])).code, 7);
    await server.requests[0]!.closed;
  });

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    test(`cancels the request at ${signal} and exits with ${code}`, async () => {
      server.answer(events([chunk("A fathom")], true));
      const outcome = await chat(["hi", "-m", "m"], {
        during: (child) => void once(child.stdout, "data").then(() => child.kill(signal)),
      });
      assert.deepEqual([outcome.code, outcome.stderr], [code, ""]);
      await server.requests[0]!.closed;
    });
  }

  test("cancels the request silently when its reader closes the pipe", async () => {
    server.answer(async (response, request) => {
      void events([], true)(response, request);
      while (!response.destroyed) {
        response.write(`data: ${JSON.stringify(chunk("more and more "))}\n\n`);
        await new Promise(setImmediate);
      }
    });
    const outcome = await chat(["hi", "-m", "m"], {
      during: (child) => void once(child.stdout, "data").then(() => child.stdout.destroy()),
    }).catch((error: Error) => error);
    await server.requests[0]!.closed;
    assert.ok(outcome instanceof Error || outcome.stderr === "");
  });
});
