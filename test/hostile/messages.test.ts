/** Requests of the Messages API that are as large as they may be, or say the same many times. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
});

const request = { model: "sounding-trial", max_tokens: 1, messages: [{ role: "user", content: "x" }] };

/** @returns the status, and the error's type if there is one */
async function call(path: string, body: object): Promise<[number, string | undefined]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { "x-api-key": server.placeholders["key"]!, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: { type: string } };
  return [response.status, error?.type];
}

const text = { type: "text", text: "x" };
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const megabytes = (count: number): string => "x".repeat(count * 1_000_000);

describe("a request of the Messages API", { timeout: 180_000 }, () => {
  for (const [name, more] of [
    ["with as many blocks as it may have", { messages: times(4, { role: "user", content: times(2_000, text) }) }],
    ["with a long text", { messages: [{ role: "user", content: [{ type: "text", text: megabytes(10) }] }] }],
    [
      "with many results of tools",
      {
        messages: [
          {
            role: "user",
            content: times(2_000, { type: "tool_result", tool_use_id: "a", content: [text], is_error: true }),
          },
        ],
      },
    ],
    [
      "with a large image in the result of a tool",
      {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "a",
                content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: megabytes(10) } }],
              },
            ],
          },
        ],
      },
    ],
    ["with many tools of long names", { tools: times(1_000, { name: "x".repeat(200), input_schema: {} }) }],
    [
      "with large signatures",
      {
        messages: [
          { role: "assistant", content: [{ type: "thinking", thinking: "", signature: `sounding-${megabytes(5)}` }] },
          ...request.messages,
        ],
      },
    ],
  ] as const) {
    test(`${name} harms nobody`, async () => {
      const report = await attack(server, async () => {
        for (let round = 0; round < 3; round += 1) {
          const [status, type] = await call("/v1/messages", { ...request, ...more });
          assert.ok(status === 200 || (status === 400 && type === "invalid_request_error"), `${status} ${type}`);
          const [counted] = await call("/v1/messages/count_tokens", { ...request, ...more });
          assert.equal(counted, 200);
        }
      });
      assertUnharmed(report, { maximumPeakBytes: 300_000_000 });
    });
  }
});
