"""OpenAI Agents with OpenInference (openinference-instrumentation-openai-agents)."""

from agents import Agent, Runner, function_tool, set_default_openai_api
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

from exporting import MODEL, start_exporting

provider = start_exporting()
set_default_openai_api("chat_completions")
OpenAIAgentsInstrumentor().instrument()


@function_tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent = Agent(name="calculator", model=MODEL, tools=[add])
Runner.run_sync(agent, "1 + 2?")
provider.shutdown()
