import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChatRequest } from "../../api/chat-request.ts";
import { contentAttributes } from "./message-content.ts";

type Messages = ChatRequest["messages"];

/** Far above the cost of inspecting an omitted prompt, far below that of serializing it. */
const mostCpuMs = 500;

function cpuOf(messages: Messages): { readonly cpuMs: number; readonly input: unknown } {
  const before = process.threadCpuUsage();
  const attributes = contentAttributes(messages, undefined);
  const { user, system } = process.threadCpuUsage(before);
  return { cpuMs: (user + system) / 1_000, input: attributes["gen_ai.input.messages"] };
}

describe("the content of a call", () => {
  test("is recorded, with instructions separate", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ] as Messages;
    const attributes = contentAttributes(messages, undefined);
    assert.deepEqual(JSON.parse(attributes["gen_ai.system_instructions"] as string), [
      { type: "text", content: "Be brief." },
    ]);
    assert.deepEqual(JSON.parse(attributes["gen_ai.input.messages"] as string), [
      { role: "user", parts: [{ type: "text", content: "Hello" }] },
    ]);
  });

  const user = { role: "user", content: "" };
  for (const [kind, messages] of [
    [
      "messages",
      Array.from({ length: 300_000 }, (_, index) => ({ role: index % 2 === 0 ? "system" : "user", content: "" })),
    ],
    ["parts", [{ role: "user", content: Array.from({ length: 500_000 }, () => ({ type: "text", text: "" })) }]],
    [
      "values in arguments",
      [
        {
          role: "assistant",
          tool_calls: [
            { id: "1", type: "function", function: { name: "f", arguments: `[${"{},".repeat(4_000_000)}{}]` } },
          ],
        },
        user,
      ],
    ],
  ] as const) {
    test(`with very many ${kind} is omitted without being serialized`, () => {
      const { cpuMs, input } = cpuOf(messages as unknown as Messages);
      assert.equal(input, undefined);
      assert.ok(cpuMs < mostCpuMs, `${cpuMs} ms`);
    });
  }
});
