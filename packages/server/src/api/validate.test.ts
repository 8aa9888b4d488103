import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../errors.ts";
import { ChatRequest } from "./chat-request.ts";
import { previewJson } from "./json-preview.ts";
import { validate } from "./validate.ts";

const messages = [{ role: "user", content: "Hello" }];

const cases: [body: unknown, param: string | null, message: RegExp][] = [
  [[], null, /^The body is \[\]; expected an object\.$/],
  [{ messages }, "model", /^model is missing; expected a non-empty string/],
  [{ model: "m" }, "messages", /^messages is missing; expected an array of 1 to 100000 items/],
  [{ model: "m", messages: [] }, "messages", /messages is \[\]; expected an array of 1 to/],
  [{ model: 7, messages }, "model", /^model is 7; expected a non-empty string/],
  [
    { model: "m", messages: [{ role: "wizard", content: "" }] },
    "messages[0].role",
    /"wizard"; expected one of "developer", "system", "user"/,
  ],
  [{ model: "m", messages: [{ content: "" }] }, "messages[0].role", /messages\[0\]\.role is missing/],
  [
    { model: "m", messages: [{ role: "user", content: 1 }] },
    "messages[0].content",
    /is 1; expected a string, an array of at most 2048 items of objects or null/,
  ],
  [
    { model: "m", messages: [{ role: "user", content: [{ text: "x" }] }] },
    "messages[0].content[0].type",
    /is missing; expected a string/,
  ],
  [
    { model: "m", messages: [{ role: "user", content: [{ type: "text", text: 5 }] }] },
    "messages[0].content[0].text",
    /is 5; expected a string/,
  ],
  [
    { model: "m", messages, tools: [{ type: "custom", custom: { name: "x" } }] },
    "tools[0].type",
    /^tools\[0\]\.type is "custom"; expected "function"\.$/,
  ],
  [
    { model: "m", messages, tool_choice: 5 },
    "tool_choice",
    /^tool_choice is 5; expected one of "none", "auto", "required", an object or null\.$/,
  ],
  [{ model: "m", messages, n: 0 }, "n", /^n is 0; expected an integer from 1 to 128\.$/],
  [{ model: "m", messages, n: 1.5 }, "n", /^n is 1\.5; expected an integer from 1 to 128\.$/],
  [{ model: "m", messages, temperature: "hot" }, "temperature", /"hot"; expected a number from 0 to 2 or null/],
  [
    { model: "m", messages, stop: ["a", "b", "c", "d", "e"] },
    "stop",
    /expected an array of at most 4 items of strings/,
  ],
  [
    { model: "m", messages, service_tier: "gold" },
    "service_tier",
    /"gold"; expected one of "auto", "default", "flex" or null/,
  ],
  [
    { model: "m", messages, response_format: { type: "xml" } },
    "response_format",
    /expected its "type" to be one of "text", "json_object", "json_schema"/,
  ],
  [
    { model: "m", messages, response_format: { type: "json_schema" } },
    "response_format.json_schema",
    /is missing; expected an object/,
  ],
  [
    { model: "m", messages, tools: [{ type: "custom", function: { name: "f" } }] },
    "tools[0].type",
    /"custom"; expected "function"/,
  ],
  [{ model: "m", messages, tools: [{ type: "function", function: {} }] }, "tools[0].function.name", /is missing/],
  [{ model: "m", messages, tool_choice: "always" }, "tool_choice", /expected one of "none", "auto", "required"/],
  [{ model: "m", messages, stream: "yes" }, "stream", /expected true or false or null/],
  [{ model: "m", messages, top_logprobs: 21 }, "top_logprobs", /from 0 to 20/],
  [{ model: "m", messages, logit_bias: { 5: 200 } }, "logit_bias[5]", /200; expected a number from -100 to 100/],
];

describe("a request that breaks a rule is refused with the field, the value and what is allowed", () => {
  for (const [body, param, message] of cases) {
    test(JSON.stringify(body).slice(0, 120), () => {
      assert.throws(
        () => validate(ChatRequest, body),
        (error) => {
          assert.ok(error instanceof AppError);
          assert.match(error.message, message);
          assert.equal(error.param, param);
          assert.equal(error.status, 400);
          return true;
        },
      );
    });
  }
});

test("unknown fields and nulls of optional parameters are accepted", () => {
  const body = { model: "m", messages, temperature: null, tools: null, my_vendor_field: { a: 1 } };
  assert.equal(validate(ChatRequest, body), body);
});

test("a huge invalid value is neither scanned nor shown in full", () => {
  const ones = Array.from({ length: 50_000 }, () => 1);
  Object.defineProperty(ones, 500, { get: () => assert.fail("an item far from the first fault was read") });
  assert.throws(() => validate(ChatRequest, { model: "m", messages: ones }), { message: /^messages\[0\] is 1;/ });
  assert.throws(() => validate(ChatRequest, { model: ones, messages }), { message: /^model is \[1,1,.*…; expected/ });
  const huge = "x".repeat(1_000_000);
  const broken = [
    { model: huge, messages },
    { model: "m", messages: { [huge]: { [huge]: huge } } },
    { model: "m", messages: [{ role: huge, content: "" }] },
    { model: "m", messages: Array.from({ length: 100_000 }, () => 1) },
    { model: "m", messages, logit_bias: { [huge]: 1000 } },
    { model: "m", messages, response_format: { type: "json_schema", json_schema: { name: huge } } },
  ];
  for (const body of broken) {
    assert.throws(
      () => validate(ChatRequest, body),
      (error: AppError) => error.message.length < 500 && (error.param ?? "").length < 300,
    );
  }
});

test("a shown value is the beginning of its JSON", () => {
  const values = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(values, fc.nat(60), (value, length) => {
      const whole = JSON.stringify(value);
      const preview = previewJson(value, length);
      if (whole.length <= length) assert.equal(preview, whole);
      else assert.equal(preview.slice(0, length), whole.slice(0, length));
    }),
  );
});
