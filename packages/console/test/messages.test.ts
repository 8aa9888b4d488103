/** Prompts and answers are read from the spans that instrumentations really sent, and from Sounding's own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readRecording } from "../../../test/instrumentations/recording.ts";
import type { KeyValue } from "../src/genai/any-value.ts";
import { readContent, type Message, type RecordingSpan } from "../src/genai/messages.ts";

interface NamedSpan extends RecordingSpan {
  readonly name: string;
}
interface Export {
  readonly resourceSpans?: { scopeSpans: { spans: NamedSpan[] }[] }[];
}

async function spansOf(recording: string): Promise<NamedSpan[]> {
  const { exports } = await readRecording(recording);
  return (exports as Export[])
    .flatMap(({ resourceSpans = [] }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
}

/** Messages as short texts: `user: Hello`, `assistant calls add {"a":1}`. */
function shown(messages: readonly Message[] = []): string[] {
  return messages.flatMap(({ role, parts }) =>
    parts.map((part) => {
      switch (part.kind) {
        case "text":
          return `${role}: ${part.text}`;
        case "reasoning":
          return `${role} thinks: ${part.text}`;
        case "tool-call":
          return `${role} calls ${part.name} ${JSON.stringify(JSON.parse(part.input))}`;
        case "tool-result":
          return `${role} gets ${part.text}`;
        case "media":
          return `${role} sends ${part.type} ${part.source}`;
      }
    }),
  );
}

function attributes(values: Record<string, string>): KeyValue[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

describe("recorded messages", () => {
  for (const [recording, expected] of [
    ["openllmetry_openai", [["user: What is a fathom?"], ["assistant: Six feet."]]],
    ["openinference_openai", [["user: What is a fathom?"], ["assistant: Six feet."]]],
    ["openllmetry_langchain", [["user: What is a fathom?"], ["assistant: Six feet."]]],
    ["openinference_langchain", [["user: What is a fathom?"], ["assistant: Six feet."]]],
    ["ai-sdk", [["user: 1 + 2?"], ['assistant calls add {"a":1,"b":2}']]],
    ["ai-sdk-legacy", [["user: 1 + 2?"], ['assistant calls add {"a":1,"b":2}']]],
    ["pydantic_ai_agent", [["user: 1 + 2?"], ['assistant calls add {"a":1,"b":2}']]],
    ["openinference_openai_agents", [["user: 1 + 2?"], ['assistant calls add {"a":1,"b":2}']]],
  ] as const) {
    test(`of ${recording} are read`, async () => {
      const contents = (await spansOf(recording)).map(readContent).filter((content) => content !== undefined);
      const found = contents.map(({ input, output }) => [shown(input), shown(output)]);
      assert.ok(
        found.some((each) => JSON.stringify(each) === JSON.stringify(expected)),
        JSON.stringify(found, undefined, 1),
      );
    });
  }

  for (const recording of ["ai-sdk", "ai-sdk-legacy", "pydantic_ai_agent"]) {
    test(`of ${recording} include tool calls and their results`, async () => {
      const contents = (await spansOf(recording)).map(readContent);
      const tools = contents.filter((content) => content?.output[0]?.role === "tool");
      assert.ok(tools.length > 0);
      for (const tool of tools) {
        assert.deepEqual(shown(tool!.input), ['assistant calls add {"a":1,"b":2}']);
        assert.deepEqual(shown(tool!.output), ["tool gets 3"]);
      }
    });
  }

  test("of an agent's run are the whole conversation, with the answer last", async () => {
    const spans = await spansOf("pydantic_ai_agent");
    const run = spans.find((span) => span.attributes?.some(({ key }) => key === "pydantic_ai.all_messages"));
    const { input, output } = readContent(run!)!;
    assert.deepEqual(shown(input), ["user: 1 + 2?", 'assistant calls add {"a":1,"b":2}', "user gets 3"]);
    assert.deepEqual(shown(output), ["assistant: Six feet."]);
  });

  test("of Sounding's own spans are read: instructions, images, tool results, reasons to finish", () => {
    const span = {
      attributes: attributes({
        "gen_ai.system_instructions": '[{"type":"text","content":"Be brief."}]',
        "gen_ai.input.messages": JSON.stringify([
          { role: "user", parts: [{ type: "text", content: "What is this?" }, { type: "image_url" }] },
          { role: "tool", parts: [{ type: "tool_call_response", id: "c", response: "a boat" }] },
        ]),
        "gen_ai.output.messages": JSON.stringify([
          {
            role: "assistant",
            parts: [
              { type: "reasoning", content: "It floats." },
              { type: "text", content: "A boat." },
            ],
            finish_reason: "stop",
          },
        ]),
      }),
    };
    const { input, output } = readContent(span)!;
    assert.deepEqual(shown(input), [
      "system: Be brief.",
      "user: What is this?",
      "user sends image ",
      "tool gets a boat",
    ]);
    assert.deepEqual(shown(output), ["assistant thinks: It floats.", "assistant: A boat."]);
    assert.equal(output[0]!.finishReason, "stop");
  });

  test("are read from events, and from attributes with numbers", () => {
    const events = [
      { name: "gen_ai.user.message", attributes: attributes({ content: "Hello?" }) },
      { name: "gen_ai.choice", attributes: attributes({ message: '{"content":"Hi."}', finish_reason: "stop" }) },
    ];
    const byEvents = readContent({ events })!;
    assert.deepEqual([shown(byEvents.input), shown(byEvents.output)], [["user: Hello?"], ["assistant: Hi."]]);
    const names = {
      "gen_ai.prompt.1.role": "user",
      "gen_ai.prompt.1.content": "Hello?",
      "gen_ai.prompt.0.role": "system",
      "gen_ai.prompt.0.content": "Be brief.",
      "gen_ai.completion.0.tool_calls.0.name": "add",
      "gen_ai.completion.0.tool_calls.0.arguments": "{}",
    };
    const byNumbers = readContent({ attributes: attributes(names) })!;
    assert.deepEqual(shown(byNumbers.input), ["system: Be brief.", "user: Hello?"]);
    assert.deepEqual(shown(byNumbers.output), ["assistant calls add {}"]);
  });

  test("without content are none, and nonsense never throws", () => {
    assert.equal(readContent({}), undefined);
    assert.equal(readContent({ attributes: attributes({ "gen_ai.operation.name": "chat" }) }), undefined);
    for (const text of ["", "null", "{", "[1,[2],null,{}]", '"text"', '{"__proto__":{"role":"x"}}', "<script>"]) {
      for (const name of [
        "gen_ai.input.messages",
        "gen_ai.system_instructions",
        "ai.prompt",
        "ai.response.toolCalls",
        "llm.input_messages.__proto__.message",
        "gen_ai.prompt.0.0.0.0.0.0.0.0.0.0.0.0.0.0",
        "input.value",
      ]) {
        readContent({
          attributes: attributes({ [name]: text }),
          events: [{ name: "gen_ai.choice", attributes: attributes({ message: text }) }],
        });
      }
    }
    assert.equal(({} as Record<string, unknown>)["role"], undefined);
  });
});
