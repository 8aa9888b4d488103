/**
 * LangChain, Pydantic AI and LiteLLM as clients of the Responses and the Messages API, with their defaults, over upstreams
 * that speak the same API and over such that only speak chat completions.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { beforeTests } from "./support/hooks.ts";
import { startMessagesServer } from "./support/messages-server.ts";
import { messagesTask } from "./support/messages-task.ts";
import { frameworksPython, needs } from "./support/needs.ts";
import { startResponsesServer } from "./support/responses-server.ts";
import { chatTask, fileAnswer, jsonAnswer, responsesTask } from "./support/responses-task.ts";

/** One process runs all cases: importing the frameworks takes seconds. What fails is in the outcome. */
const program = `
import asyncio, json, sys, traceback
responses_url, responses_key, messages_url, messages_key = sys.argv[1:]
question = "What does the file x say?"
outcomes = {}

def case(name):
    def add(run):
        try:
            outcomes[name] = run()
        except Exception:
            outcomes[name] = traceback.format_exc()[-1500:]
    return add

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

class File(BaseModel):
    path: str
    answer: int

@tool("read")
def read_tool(path: str) -> str:
    """Reads a file."""
    return "42"

def langchain_loop(chat):
    bound = chat.bind_tools([read_tool])
    messages = [HumanMessage(question)]
    for _ in range(5):
        message = bound.invoke(messages)
        messages.append(message)
        if not message.tool_calls:
            break
        messages += [ToolMessage(read_tool.invoke(call["args"]), tool_call_id=call["id"]) for call in message.tool_calls]
    return [messages[-1].text, len(messages), messages[-1].usage_metadata["output_tokens"]]

def langchain_stream(chat):
    whole = None
    for chunk in chat.stream(question):
        whole = chunk if whole is None else whole + chunk
    return [whole.text, whole.usage_metadata["output_tokens"]]

def read(path: str) -> str:
    """Reads a file."""
    return "42"

from pydantic_ai import Agent

async def pydantic_agent(model):
    agent = Agent(model, tools=[read])
    whole = await agent.run(question)
    async with agent.run_stream(question) as streamed:
        return [whole.output, await streamed.get_output()]

import litellm
from openai import AsyncOpenAI
from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

openai_tool = {"type": "function", "name": "read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}

def litellm_responses(model):
    options = {"model": f"openai/{model}", "api_base": responses_url + "/v1", "api_key": responses_key}
    first = litellm.responses(input=question, tools=[openai_tool], **options)
    call = [item for item in first.output if item.type == "function_call"][0]
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "42"}
    second = litellm.responses(input=[output], previous_response_id=first.id, **options)
    text = "".join(part.text for item in second.output if item.type == "message" for part in item.content)
    events = litellm.responses(input=question, stream=True, **options)
    streamed = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    return [call.arguments, text, streamed]

def litellm_messages(model):
    options = {"model": f"anthropic/{model}", "api_base": messages_url, "api_key": messages_key}
    messages = [{"role": "user", "content": question}]
    functions = [{"type": "function", "function": {key: openai_tool[key] for key in ["name", "parameters"]}}]
    called = litellm.completion(messages=messages, tools=functions, **options)
    call = called.choices[0].message.tool_calls[0]
    messages += [called.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "42"}]
    answered = litellm.completion(messages=messages, tools=functions, **options)
    chunks = litellm.completion(messages=[{"role": "user", "content": question}], stream=True, **options)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    return [json.loads(call.function.arguments), answered.choices[0].message.content, streamed]

for model in ["assistant", "native"]:
    chat = ChatOpenAI(model=model, base_url=responses_url + "/v1", api_key=responses_key, use_responses_api=True)
    case(f"langchain-openai loops with {model}")(lambda: langchain_loop(chat))
    case(f"langchain-openai streams with {model}")(lambda: langchain_stream(chat))
    case(f"langchain-openai parses with {model}")(lambda: chat.with_structured_output(File).invoke(question).model_dump())
    def responses_model():
        client = AsyncOpenAI(base_url=responses_url + "/v1", api_key=responses_key)
        return OpenAIResponsesModel(model, provider=OpenAIProvider(openai_client=client))
    case(f"pydantic-ai on responses with {model}")(lambda: asyncio.run(pydantic_agent(responses_model())))
    case(f"litellm on responses with {model}")(lambda: litellm_responses(model))

for model in ["assistant", "claude"]:
    chat = ChatAnthropic(model=model, base_url=messages_url, api_key=messages_key)
    case(f"langchain-anthropic loops with {model}")(lambda: langchain_loop(chat))
    case(f"langchain-anthropic streams with {model}")(lambda: langchain_stream(chat))
    def messages_model():
        client = AsyncAnthropic(base_url=messages_url, api_key=messages_key)
        return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))
    case(f"pydantic-ai on messages with {model}")(lambda: asyncio.run(pydantic_agent(messages_model())))
    case(f"litellm on messages with {model}")(lambda: litellm_messages(model))

print(json.dumps(outcomes))
`;

describe("frameworks for Python", { skip: needs("python-frameworks"), timeout: 300_000 }, () => {
  let outcomes: Record<string, unknown>;
  beforeTests(async (stack) => {
    const responses = stack.use(await startResponsesServer());
    responses.chat.script = chatTask;
    responses.responses.script = responsesTask();
    const messages = stack.use(await startMessagesServer({ anthropic: messagesTask, chat: chatTask }));
    const addresses = [responses.server.url, responses.server.key, messages.server.url, messages.server.key];
    // LiteLLM asks the Internet for its list of prices otherwise.
    const env = { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: "True" };
    const { stdout } = await promisify(execFile)(frameworksPython, ["-c", program, ...addresses], { env });
    outcomes = JSON.parse(stdout.trim().split("\n").at(-1)!) as Record<string, unknown>;
  });

  for (const model of ["assistant", "native"]) {
    test(`use the Responses API with ${model}`, () => {
      assert.deepEqual(outcomes[`langchain-openai loops with ${model}`], [fileAnswer, 4, 25]);
      assert.deepEqual(outcomes[`langchain-openai streams with ${model}`], [fileAnswer, 25]);
      assert.deepEqual(outcomes[`langchain-openai parses with ${model}`], jsonAnswer);
      assert.deepEqual(outcomes[`pydantic-ai on responses with ${model}`], [fileAnswer, fileAnswer]);
      assert.deepEqual(outcomes[`litellm on responses with ${model}`], ['{"path":"x"}', fileAnswer, fileAnswer]);
    });
  }

  for (const model of ["assistant", "claude"]) {
    test(`use the Messages API with ${model}`, () => {
      assert.deepEqual(outcomes[`langchain-anthropic loops with ${model}`], [fileAnswer, 4, 25]);
      assert.deepEqual(outcomes[`langchain-anthropic streams with ${model}`], [fileAnswer, 25]);
      assert.deepEqual(outcomes[`pydantic-ai on messages with ${model}`], [fileAnswer, fileAnswer]);
      assert.deepEqual(outcomes[`litellm on messages with ${model}`], [{ path: "x" }, fileAnswer, fileAnswer]);
    });
  }
});
