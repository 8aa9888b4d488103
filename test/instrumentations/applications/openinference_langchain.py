"""LangChain with OpenInference for LangChain and for OpenAI's SDK."""

from openinference.instrumentation import using_session
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor

from exporting import start_exporting
from langchain_calls import call_with_langchain

provider = start_exporting()
LangChainInstrumentor().instrument()
OpenAIInstrumentor().instrument()
with using_session("session-1"):
    call_with_langchain()
provider.shutdown()
