"""OpenAI's SDK with OpenInference (openinference-instrumentation-openai)."""

from openinference.instrumentation import using_session
from openinference.instrumentation.openai import OpenAIInstrumentor

from exporting import start_exporting
from openai_calls import call_with_openai

provider = start_exporting()
OpenAIInstrumentor().instrument()
with using_session("session-1"):
    call_with_openai()
provider.shutdown()
