"""OpenAI's SDK with OpenLLMetry (opentelemetry-instrumentation-openai)."""

from opentelemetry.instrumentation.openai import OpenAIInstrumentor

from exporting import start_exporting
from openai_calls import call_with_openai

provider = start_exporting()
OpenAIInstrumentor().instrument()
call_with_openai()
provider.shutdown()
