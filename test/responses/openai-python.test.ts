/** The Responses API with OpenAI's SDK and Agents SDK for Python, with their defaults, over both kinds of upstreams. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { beforeTests } from "../support/hooks.ts";
import { instrumentedPython, needs } from "../support/needs.ts";
import { startResponsesServer } from "../support/responses-server.ts";
import { chatTask, fileAnswer, jsonAnswer, responsesTask } from "../support/responses-task.ts";

const program = `
import asyncio, json, sys
import openai
from pydantic import BaseModel
from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0)
set_default_openai_client(openai.AsyncOpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2]), use_for_tracing=False)
set_tracing_disabled(True)
question = "What does the file x say?"
parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": False}
tool = {"type": "function", "name": "read", "parameters": parameters, "strict": True}
outcomes = {}

class File(BaseModel):
    path: str
    answer: int

@function_tool
def read(path: str) -> str:
    """Reads a file."""
    return "42"

async def run_agents(model):
    agent = Agent(name="Reader", instructions="Use the tool.", model=model, tools=[read])
    result = await Runner.run(agent, question)
    streamed = Runner.run_streamed(agent, question)
    async for _ in streamed.stream_events():
        pass
    return [result.final_output, streamed.final_output]

for model in ["assistant", "native"]:
    first = client.responses.create(model=model, input=question, tools=[tool])
    call = [item for item in first.output if item.type == "function_call"][0]
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "42"}
    second = client.responses.create(model=model, input=[output], previous_response_id=first.id)
    outcomes[f"{model} loops"] = [call.arguments, second.output_text, second.usage.input_tokens]
    with client.responses.stream(model=model, input=question) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        outcomes[f"{model} streams"] = [text, stream.get_final_response().status]
    parsed = client.responses.parse(model=model, input=question, text_format=File)
    outcomes[f"{model} parses"] = parsed.output_parsed.model_dump()
    polled = client.responses.create(model=model, input=question, background=True)
    begun = polled.status
    while polled.status in ("queued", "in_progress"):
        polled = client.responses.retrieve(polled.id)
    with client.responses.create(model=model, input=question, background=True, stream=True) as stream:
        created = next(iter(stream))
    resumed = client.responses.retrieve(created.response.id, stream=True, starting_after=created.sequence_number)
    events = [event.type for event in resumed]
    cancelled = client.responses.cancel(created.response.id)
    outcomes[f"{model} background"] = [begun, polled.status, polled.output_text, events[0], events[-1], cancelled.status]
    client.responses.delete(second.id)
    try:
        client.responses.retrieve(second.id)
    except openai.NotFoundError as error:
        outcomes[f"{model} refuses"] = error.param

async def run_all():
    for model in ["assistant", "native"]:
        outcomes[f"{model} agents"] = await run_agents(model)

asyncio.run(run_all())
print(json.dumps(outcomes))
`;

describe("OpenAI's SDKs for Python", { skip: needs("python-instrumentations") }, () => {
  let outcomes: Record<string, unknown>;
  beforeTests(async (stack) => {
    const { server, chat, responses } = stack.use(await startResponsesServer());
    chat.script = chatTask;
    responses.script = responsesTask();
    const { stdout } = await promisify(execFile)(instrumentedPython, ["-c", program, server.url, server.key]);
    outcomes = JSON.parse(stdout) as Record<string, unknown>;
  });

  for (const model of ["assistant", "native"]) {
    test(`loop over tools, stream, parse, poll, resume, delete, and run agents with ${model}`, () => {
      assert.deepEqual(outcomes[`${model} loops`], ['{"path":"x"}', fileAnswer, 100]);
      assert.deepEqual(outcomes[`${model} streams`], [fileAnswer, "completed"]);
      assert.deepEqual(outcomes[`${model} parses`], jsonAnswer);
      const inBackground = ["queued", "completed", fileAnswer, "response.queued", "response.completed", "completed"];
      assert.deepEqual(outcomes[`${model} background`], inBackground);
      assert.equal(outcomes[`${model} refuses`], "response_id");
      assert.deepEqual(outcomes[`${model} agents`], [fileAnswer, fileAnswer]);
    });
  }
});
