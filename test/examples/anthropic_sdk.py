# Anthropic's SDK for Python, unchanged except for the base URL and the API key.
import os
from anthropic import Anthropic

client = Anthropic(base_url=os.environ["SOUNDING_BASE_URL"], api_key=os.environ["SOUNDING_API_KEY"])
message = client.messages.create(
    model="sounding-trial",
    max_tokens=256,
    messages=[{"role": "user", "content": "What is a fathom?"}],
)
print(message.content[0].text, message.usage.output_tokens)
