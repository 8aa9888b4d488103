import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { outcomeOf } from "../../src/finished-call.ts";
import { ChatCompletion, ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import { validate } from "../../src/api/validate.ts";
import { AppError } from "../../src/errors.ts";
import { chunk, completion, saying, scriptedModel, usage } from "../support/scripted-model.ts";
import { readFrames, startTestChat } from "../support/test-chat.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const messages = [{ role: "user", content: "Hello" }];
const request = { model: "my-model", messages };

async function errorOf(response: Response) {
  return ((await response.json()) as { error: { message: string; param: string | null; code: string | null } }).error;
}

describe("a batch answer", () => {
  test("is what the model returned, including the model's own name", async () => {
    const model = scriptedModel({
      complete: () => completion("Hi.", { system_fingerprint: "fp", my_vendor_field: 1 } as object),
    });
    await using server = await startTestChat({ model });
    const response = await server.post(request);
    const answer = validate(ChatCompletion, await response.json());
    assert.equal(answer.model, "engine-name");
    assert.equal(answer.choices[0]?.message.content, "Hi.");
    assert.equal((answer as Record<string, unknown>)["my_vendor_field"], 1);
  });

  test("is counted: model, tokens, outcome", async () => {
    await using server = await startTestChat({ model: scriptedModel({}) });
    await (await server.post(request)).json();
    assert.deepEqual([outcomeOf(server.finishedChats[0]!), server.finishedChats[0]?.usage], ["ok", usage]);
    await server.untilFinished(1);
    assert.equal(server.finished[0]?.fields["prompt_tokens"], 7);
  });
});

describe("what the engine receives", () => {
  const merges: [name: string, body: object, expected: object, removed: string[]][] = [
    ["extra_body's members, at the top level", { ...request, extra_body: { top_k: 5 } }, { top_k: 5 }, ["extra_body"]],
    [
      "the top level where both have a member",
      { ...request, seed: 1, extra_body: { seed: 2, min_p: 0.1 } },
      { seed: 1, min_p: 0.1 },
      ["extra_body"],
    ],
    ["nothing of an extra_body that is null", { ...request, extra_body: null }, {}, ["extra_body"]],
    ["modality under its OpenAI name", { ...request, modality: ["text"] }, { modalities: ["text"] }, ["modality"]],
    [
      "modalities where both names say the same",
      { ...request, modality: ["text"], modalities: ["text"] },
      { modalities: ["text"] },
      ["modality"],
    ],
    [
      "extra_body's members by whatever name",
      JSON.parse(
        `{"model":"my-model","messages":${JSON.stringify(messages)},"extra_body":{"constructor":1,"toString":2,"__proto__":3}}`,
      ) as object,
      JSON.parse('{"constructor":1,"toString":2,"__proto__":3}') as object,
      ["extra_body"],
    ],
    ["nothing of an organization_id that is null", { ...request, organization_id: null }, {}, ["organization_id"]],
    [
      "unknown fields as they are",
      { ...request, chat_template_kwargs: { thinking: true } },
      { chat_template_kwargs: { thinking: true } },
      [],
    ],
  ];
  for (const [name, body, expected, removed] of merges) {
    test(name, async () => {
      const model = scriptedModel({});
      await using server = await startTestChat({ model });
      assert.equal((await server.post(body)).status, 200);
      const call = model.calls[0]!;
      assert.deepEqual(call.request, { ...request, ...expected });
      assert.deepEqual(
        Object.keys(call.changes).filter((key) => call.changes[key] === undefined),
        removed,
      );
      // The bytes with the changes applied equal the request: engines may forward either.
      const forwarded = Object.fromEntries(
        Object.entries({ ...JSON.parse(call.bytes.toString()), ...call.changes }).filter(
          ([, value]) => value !== undefined,
        ),
      );
      assert.deepEqual(forwarded, call.request);
    });
  }
});

describe("a request that breaks a rule between fields is refused by name", () => {
  const tool = { type: "function", function: { name: "f" } };
  const cases: [body: object, param: string, message: RegExp][] = [
    [{ ...request, stream_options: { include_usage: true } }, "stream_options", /only allowed when stream is true/],
    [{ ...request, top_logprobs: 2 }, "top_logprobs", /set logprobs to true/],
    [{ ...request, tool_choice: "required" }, "tool_choice", /tools is empty/],
    [
      { ...request, tools: [tool], tool_choice: { type: "function", function: { name: "g" } } },
      "tool_choice.function.name",
      /"g"; expected one of "f"/,
    ],
    [{ ...request, messages: [{ role: "user" }] }, "messages[0].content", /is absent/],
    [
      { ...request, messages: [{ role: "assistant", content: null }] },
      "messages[0].content",
      /unless it is an assistant message with tool_calls/,
    ],
    [{ ...request, messages: [{ role: "tool", content: "4" }] }, "messages[0].tool_call_id", /is missing/],
    [{ ...request, extra_body: { temperature: 9 } }, "temperature", /^temperature is 9/],
    [{ ...request, modality: ["audio"], modalities: ["text"] }, "modality", /both name the same parameter/],
    [
      { ...request, modality: ["audio"], extra_body: { modalities: ["text"] } },
      "modality",
      /both name the same parameter/,
    ],
    [{ ...request, extra_body: [] }, "extra_body", /expected an object or null/],
  ];
  for (const [body, param, message] of cases) {
    test(`${param}: ${JSON.stringify(body).slice(38, 120)}`, async () => {
      const model = scriptedModel({});
      await using server = await startTestChat({ model });
      const response = await server.post(body);
      const error = await errorOf(response);
      assert.equal(response.status, 400);
      assert.equal(error.param, param);
      assert.match(error.message, message);
      assert.equal(model.calls.length, 0);
    });
  }
});

describe("a request that names an organization", () => {
  test("is served if it is the key's own, by ID or by name", async () => {
    const model = scriptedModel({});
    await using server = await startTestChat({ model });
    for (const organization_id of ["org_test", "test-org"]) {
      assert.equal((await server.post({ ...request, organization_id })).status, 200);
    }
    assert.deepEqual(model.calls[1]?.request, request);
  });

  for (const body of [
    { ...request, organization_id: "org_other" },
    { ...request, extra_body: { organization_id: "org_other" } },
  ]) {
    test(`is refused if it is another's: ${JSON.stringify(body).slice(38)}`, async () => {
      const model = scriptedModel({});
      await using server = await startTestChat({ model });
      const response = await server.post(body);
      const error = await errorOf(response);
      assert.deepEqual([response.status, error.code, error.param], [403, "organization_mismatch", "organization_id"]);
      assert.equal(model.calls.length, 0);
    });
  }
});

describe("a streamed answer", () => {
  test("has one id, creation time and model, a role first, a finish reason last, and [DONE]", async () => {
    const wandering = saying("a", "b").map((each, index) => ({
      ...each,
      id: `id-${index}`,
      created: index,
      model: `m-${index}`,
    }));
    await using server = await startTestChat({
      model: scriptedModel({
        async *stream() {
          yield* wandering;
        },
      }),
    });
    const frames = await readFrames(await server.post({ ...request, stream: true }));
    assert.equal(frames.pop(), "[DONE]");
    const chunks = frames.map((frame) => validate(ChatCompletionChunk, frame));
    assert.deepEqual(
      new Set(chunks.map(({ id, created, model, object }) => JSON.stringify([id, created, model, object]))),
      new Set(['["id-0",0,"m-0","chat.completion.chunk"]']),
    );
    assert.deepEqual(
      chunks.map(({ choices }) => choices[0]?.delta.role),
      ["assistant", undefined, undefined],
    );
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, "stop");
    assert.ok(
      chunks.every((each) => !("usage" in each)),
      "usage was not asked for",
    );
    assert.deepEqual(server.finishedChats[0]?.usage, usage, "but it was counted");
  });

  test("carries its usage in one more chunk on request, and null before it", async () => {
    await using server = await startTestChat({ model: scriptedModel({}) });
    const frames = (await readFrames(
      await server.post({ ...request, stream: true, stream_options: { include_usage: true } }),
    )) as Record<string, unknown>[];
    assert.deepEqual(
      frames.slice(0, -2).map((frame) => frame["usage"]),
      [null, null, null],
    );
    assert.deepEqual([frames.at(-2)?.["choices"], frames.at(-2)?.["usage"]], [[], usage]);
  });

  test("starts every choice with its role", async () => {
    async function* two() {
      for (const index of [1, 0, 1])
        yield chunk([{ index, delta: { content: "x" }, finish_reason: index === 0 ? "stop" : null }]);
    }
    await using server = await startTestChat({ model: scriptedModel({ stream: two }) });
    const frames = (await readFrames(await server.post({ ...request, stream: true, n: 2 }))) as {
      choices: { delta: { role?: string } }[];
    }[];
    assert.deepEqual(
      frames.slice(0, 3).map(({ choices }) => choices[0]?.delta.role),
      ["assistant", "assistant", undefined],
    );
  });

  test("is cancelled at the engine when the client disconnects", async () => {
    const model = scriptedModel({
      async *stream(call) {
        yield* saying("a").slice(0, 1);
        await once(call.signal, "abort");
        throw new AppError("client_closed", "Left.");
      },
    });
    await using server = await startTestChat({ model });
    const controller = new AbortController();
    const response = await server.post(
      { ...request, stream: true },
      {
        signal: controller.signal,
        headers: { authorization: "Bearer sk-test-key-of-the-http-tests", "content-type": "application/json" },
      },
    );
    await response.body!.getReader().read();
    controller.abort();
    await server.untilFinished(1);
    assert.equal(outcomeOf(server.finishedChats[0]!), "client_closed");
    assert.ok(model.calls[0]?.signal.aborted);
  });
});

describe("limits", () => {
  test("refuse with 429 and Retry-After, and every answer reports what is left", async () => {
    await using server = await startTestChat({ model: scriptedModel({}), limits: { requests_per_minute: 2 } });
    const first = await server.post(request);
    assert.equal(first.headers.get("x-ratelimit-limit-requests"), "2");
    assert.equal(first.headers.get("x-ratelimit-remaining-requests"), "1");
    await server.post(request);
    const third = await server.post(request);
    assert.equal(third.status, 429);
    assert.equal(third.headers.get("x-ratelimit-remaining-requests"), "0");
    assert.ok(Number(third.headers.get("retry-after")) >= 1);
    assert.equal((await errorOf(third)).code, "rate_limit_exceeded");
  });

  test("on concurrent calls free their slot however a call ends", async () => {
    let failing = true;
    const model = scriptedModel({
      complete() {
        if (failing) throw new AppError("upstream_failed", "No.");
        return completion("ok");
      },
    });
    await using server = await startTestChat({ model, limits: { concurrent_requests: 1 } });
    for (let round = 0; round < 3; round++) assert.equal((await server.post(request)).status, 502);
    failing = false;
    assert.equal((await server.post(request)).status, 200);
    assert.equal((await (await server.post({ ...request, stream: true })).text()).endsWith("data: [DONE]\n\n"), true);
    assert.equal((await server.post(request)).status, 200);
  });
});

test("no JSON input causes an internal error", async () => {
  await using server = await startTestChat({ model: scriptedModel({}) });
  const oddRequest = fc.record(
    {
      model: fc.oneof(fc.constant("m"), fc.jsonValue()),
      messages: fc.oneof(
        fc.constant(messages),
        fc.jsonValue(),
        fc.array(fc.record({ role: fc.constantFrom("user", "assistant", "tool", "x"), content: fc.jsonValue() })),
      ),
      extra_body: fc.jsonValue(),
      modality: fc.jsonValue(),
      tools: fc.jsonValue(),
      tool_choice: fc.jsonValue(),
      stop: fc.jsonValue(),
      stream: fc.jsonValue(),
      response_format: fc.jsonValue(),
      logit_bias: fc.jsonValue(),
      __proto__: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        oddRequest.map((value) => JSON.stringify(value)),
        fc.string(),
      ),
      async (body) => {
        const response = await server.post(body);
        await response.arrayBuffer();
        assert.ok(response.status < 500, `${response.status} for ${body}`);
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});
