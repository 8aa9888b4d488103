/** Requests of the Responses API that are as large as they may be, or say the same many times. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const request = { model: "sounding-trial", max_output_tokens: 1, input: "x" };

/** @returns the status, and the error's code if there is one */
async function call(body: object): Promise<{ status: number; code: string | undefined; id: string }> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.placeholders["key"]!}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error, id = "" } = (await response.json()) as { error?: { code: string }; id?: string };
  return { status: response.status, code: error?.code, id };
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const megabytes = (count: number): string => "x".repeat(count * 1_000_000);
const text = { type: "input_text", text: "x" };
const sealed = (content: string): object => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: content,
});
const image = { type: "input_image", image_url: `data:image/png;base64,${megabytes(10)}` };

describe("a request of the Responses API", { timeout: 180_000 }, () => {
  for (const [name, more] of [
    ["with many messages", { input: times(20_000, { role: "user", content: "x" }) }],
    ["with many parts", { input: times(4, { role: "user", content: times(5_000, text) }) }],
    ["with a long text", { input: megabytes(10) }],
    [
      "with many outputs of tools",
      { input: times(20_000, { type: "function_call_output", call_id: "a", output: "x" }) },
    ],
    [
      "with an image in the output of a tool",
      { input: [{ type: "function_call_output", call_id: "a", output: [image] }] },
    ],
    [
      "with many tools of long names",
      { tools: times(1_000, { type: "function", name: "x".repeat(200), parameters: {} }) },
    ],
    [
      "with many tools in one namespace",
      { tools: [{ type: "namespace", name: "n", tools: times(20_000, { type: "custom", name: "x" }) }] },
    ],
    ["with large sealed reasoning", { input: [sealed(`sounding-${megabytes(5)}`)] }],
    ["with many references", { input: times(20_000, { type: "item_reference", id: "msg_1" }) }],
    [
      "with references to many items",
      { input: Array.from({ length: 20_000 }, (_, index) => ({ type: "item_reference", id: `msg_${index}` })) },
    ],
  ] as const) {
    test(`${name} harms nobody`, async () => {
      const report = await attack(server, async () => {
        for (let round = 0; round < 3; round += 1) {
          const { status, code } = await call({ ...request, ...more });
          assert.ok(status === 200 || status === 400 || status === 413, `${status} ${code}`);
        }
      });
      assertUnharmed(report, { maximumPeakBytes: 300_000_000 });
    });
  }

  test("of a long conversation harms nobody", async () => {
    const report = await attack(server, async () => {
      let previous: string | undefined;
      for (let turn = 0; turn < 60; turn += 1) {
        const { code, id, status } = await call({
          ...request,
          input: "x",
          previous_response_id: previous,
        });
        assert.equal(status, 200, `turn ${turn}: ${code}`);
        previous = id;
      }
    });
    assertUnharmed(report, { maximumPeakBytes: 300_000_000 });
  });
});
