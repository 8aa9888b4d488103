"""LangChain with OpenLLMetry for LangChain and for OpenAI's SDK."""

from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from opentelemetry.instrumentation.openai import OpenAIInstrumentor

from exporting import start_exporting
from langchain_calls import call_with_langchain

provider = start_exporting()
LangchainInstrumentor().instrument()
OpenAIInstrumentor().instrument()
call_with_langchain()
provider.shutdown()
