/** Responses in the background, as many and as large as one organization may ask for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

function call(path: string, body?: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v1/responses${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${server.placeholders["key"]!}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

interface Created {
  readonly id: string;
  readonly status: number;
}

async function create(more: object): Promise<Created> {
  const response = await call("", { model: "sounding-trial", input: "x", background: true, ...more });
  const reader = response.body!.getReader();
  const text = new TextDecoder().decode((await reader.read()).value);
  // Clients of streams leave.
  await reader.cancel();
  return { id: /resp_\w+/.exec(text)?.[0] ?? "", status: response.status };
}

/** Some at once: however cheap each is, a hundred that arrive together hold the event loop together. */
async function inGroups<T>(count: number, run: (index: number) => Promise<T>, most = 10): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) {
    const size = Math.min(most, count - results.length);
    results.push(...(await Promise.all(Array.from({ length: size }, (_, index) => run(results.length + index)))));
  }
  return results;
}

/** Waits, so that one attack does not weigh on the next; returns how each ended: its state, or the code of its failure. */
async function untilEnded(created: readonly Created[]): Promise<Set<string>> {
  const ends = new Set<string>();
  for (const { id, status } of created) {
    if (status !== 200) continue;
    for (;;) {
      const response = (await (await call(`/${id}`)).json()) as { status: string; error: { code: string } | null };
      if (response.status !== "queued" && response.status !== "in_progress") {
        ends.add(response.error?.code ?? response.status);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return ends;
}

describe("responses in the background", { timeout: 300_000 }, () => {
  const large = { input: "x".repeat(1_000_000), max_output_tokens: 1 };
  const streamed = { stream: true, input: "Tell me a long story. ".repeat(200), max_output_tokens: 20 };
  for (const [name, count, most, more, end] of [
    ["of one organization, very many at once", 150, 10, { max_output_tokens: 4 }, "incomplete"],
    ["with large requests", 40, 2, large, "context_length_exceeded"],
    ["with streams that nobody reads", 80, 10, streamed, "incomplete"],
  ] as const) {
    test(`${name}, harm nobody`, async () => {
      const report = await attack(server, async () => {
        const created = await inGroups(count, () => create(more), most);
        for (const { status } of created) assert.ok([200, 429, 503].includes(status), String(status));
        assert.ok(created.some(({ status }) => status === 200));
        // None fails because the model is full: they wait for each other.
        assert.deepEqual([...(await untilEnded(created))], [end]);
      });
      assertUnharmed(report, { maximumPeakBytes: 400_000_000 });
    });
  }

  test("followed many times harm nobody", async () => {
    const report = await attack(server, async () => {
      const { id } = await create({ stream: true });
      await inGroups(200, async (index) => {
        const response = await call(`/${id}?stream=true&starting_after=${index % 4}`);
        assert.equal(response.status, 200);
        assert.match(await response.text(), /response\.completed/);
      });
      const past = await call(`/${id}?stream=true&starting_after=999999999`);
      assert.deepEqual([past.status, await past.text()], [200, ""]);
    });
    assertUnharmed(report, { maximumPeakBytes: 400_000_000 });
  });
});
