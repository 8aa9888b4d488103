import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Template } from "@huggingface/jinja";
import * as fc from "fast-check";
import { anyObject } from "../grammar/json-text.ts";
import { createMatcher } from "../grammar/matcher.ts";
import { trialChatTemplate } from "../trial/chat-template.ts";
import { createToolCallReader, type ToolCallPart } from "./tool-call-reader.ts";
import { findToolFormat, toolCallsGrammar, triggerOf, type ToolFormat } from "./tool-format.ts";

/** Like Llama 3.1: no marker, one call per message. */
const bareTemplate = `{%- for message in messages %}
{{- '<|start|>' + message.role + '<|end|>\\n\\n' }}
{%- if message.tool_calls %}
{%- if message.tool_calls|length != 1 %}{{ raise_exception('one call at a time') }}{%- endif %}
{{- '{"name": "' + message.tool_calls[0].function.name + '", "parameters": ' + (message.tool_calls[0].function.arguments | tojson) + '}' }}
{%- else %}{{- message.content }}{%- endif %}
{{- '<|eot|>' }}
{%- endfor %}`;

/** Like Mistral: a list after a marker, with IDs. */
const listTemplate = `{%- for message in messages %}
{%- if message.tool_calls %}
{{- '[TOOL_CALLS] [' }}
{%- for call in message.tool_calls %}{{- '{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + ', "id": "' + call.id + '"}' }}{%- if not loop.last %}{{- ', ' }}{%- endif %}{%- endfor %}
{{- ']</s>' }}
{%- elif message.role == 'user' %}{{- '[INST] ' + message.content + ' [/INST]' }}
{%- else %}{{- message.content + '</s>' }}{%- endif %}
{%- endfor %}`;

const xmlTemplate = `{%- for message in messages %}{{- message.content }}{%- for call in message.tool_calls or [] %}<function={{ call.function.name }}>{% for key, value in call.function.arguments.items() %}<parameter={{ key }}>{{ value }}</parameter>{% endfor %}</function>{%- endfor %}{%- endfor %}`;

function formatOf(source: string): ToolFormat | undefined {
  const template = new Template(source);
  return findToolFormat((messages) => {
    const parsed = messages.map((message) => ({
      ...message,
      tool_calls: message.tool_calls?.map((call) => ({
        ...call,
        function: { ...call.function, arguments: JSON.parse(call.function.arguments) as unknown },
      })),
    }));
    return template.render({ messages: parsed, add_generation_prompt: false });
  });
}

/** The grammar's numbers have at most 15 digits, so not every double fits. */
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string()),
  fc.dictionary(fc.string(), fc.integer()),
);

describe("the tool-call format", () => {
  test("is derived from a template with markers", () => {
    const format = formatOf(trialChatTemplate);
    assert.deepEqual(format, {
      opening: '<tool_call>\n{"name": "',
      middle: '", "arguments": ',
      closing: "}\n</tool_call>",
      between: '}\n</tool_call>\n<tool_call>\n{"name": "',
    });
    assert.equal(triggerOf(format), "<tool_call>");
  });

  test("is derived from a template of bare JSON with one call", () => {
    const format = formatOf(bareTemplate);
    assert.deepEqual(format, { opening: '{"name": "', middle: '", "parameters": ', closing: "}", between: undefined });
    assert.equal(triggerOf(format), '{"name":');
  });

  test("is derived from a template of a list, without its IDs", () => {
    const format = formatOf(listTemplate);
    assert.deepEqual(format, {
      opening: '[TOOL_CALLS] [{"name": "',
      middle: '", "arguments": ',
      closing: "}]",
      between: '}, {"name": "',
    });
    assert.equal(triggerOf(format), "[TOOL_CALLS]");
  });

  test("is unknown if calls are not JSON, or absent", () => {
    assert.equal(formatOf(xmlTemplate), undefined);
    assert.equal(formatOf("{% for message in messages %}{{ message.content }}{% endfor %}"), undefined);
    assert.equal(formatOf("{{ raise_exception('no') }}"), undefined);
  });

  for (const source of [trialChatTemplate, listTemplate]) {
    test("is written and parsed alike, however the text is split", () => {
      const format = formatOf(source)!;
      const calls = fc.array(fc.tuple(fc.constantFrom("a", "ab", "b.c"), fc.dictionary(fc.string(), value)), {
        minLength: 1,
        maxLength: 3,
      });
      const grammar = toolCallsGrammar(
        format,
        ["a", "ab", "b.c"].map((name) => ({ name, grammar: anyObject })),
        true,
      );
      fc.assert(
        fc.property(calls, fc.array(fc.nat(6), { minLength: 1 }), (wanted, cuts) => {
          const written = wanted
            .map(([name, each]) => name + format.middle + JSON.stringify(each))
            .join(format.between);
          const text = format.opening + written + format.closing;
          const matcher = createMatcher(grammar);
          assert.ok(matcher.advance(matcher.start, Buffer.from(text))?.complete, text);
          const reader = createToolCallReader(format, ["a", "ab", "b.c"]);
          const parts: ToolCallPart[] = [];
          for (let start = 0, turn = 0; start < text.length; turn++) {
            const end = start + 1 + cuts[turn % cuts.length]!;
            parts.push(...reader.push(text.slice(start, end)));
            start = end;
          }
          const read = wanted.map((_, index) => {
            const own = parts.filter((part) => part.index === index);
            const name = own.find((part) => part.kind === "call")?.name;
            return [name, JSON.parse(own.map((part) => (part.kind === "arguments" ? part.text : "")).join(""))];
          });
          assert.deepEqual(
            read,
            wanted.map(([name, each]) => [name, JSON.parse(JSON.stringify(each))]),
          );
          assert.equal(reader.complete, wanted.length);
        }),
      );
    });
  }
});
