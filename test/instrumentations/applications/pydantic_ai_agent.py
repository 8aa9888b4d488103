"""A Pydantic AI agent with its own OpenTelemetry support, and OpenTelemetry's instrumentation of OpenAI's SDK below it."""

from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

from exporting import MODEL, start_exporting

provider = start_exporting()
OpenAIInstrumentor().instrument()
Agent.instrument_all()
agent = Agent(OpenAIChatModel(MODEL), name="calculator")


@agent.tool_plain
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent.run_sync("1 + 2?")
provider.shutdown()
