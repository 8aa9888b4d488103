"""OpenAI's SDK with OpenTelemetry's instrumentation (opentelemetry-instrumentation-openai-v2)."""

from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

from exporting import start_exporting
from openai_calls import call_with_openai

provider = start_exporting()
OpenAIInstrumentor().instrument()
call_with_openai()
provider.shutdown()
