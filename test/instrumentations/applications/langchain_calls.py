"""Runs LangChain: a chain of prompt and model, and an agent that uses a tool."""

from langchain.agents import create_agent
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from exporting import MODEL, QUESTION


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def call_with_langchain() -> None:
    model = ChatOpenAI(model=MODEL, max_retries=0)
    chain = ChatPromptTemplate.from_messages([("user", "{question}")]) | model
    chain.invoke({"question": QUESTION})
    agent = create_agent(model, [add], name="calculator")
    agent.invoke({"messages": [{"role": "user", "content": "1 + 2?"}]})
