# OpenAI's SDK for Python, unchanged except for the base URL and the API key.
import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["SOUNDING_BASE_URL"] + "/v1", api_key=os.environ["SOUNDING_API_KEY"])
model = client.models.list().data[0].id
answer = client.chat.completions.create(model=model, messages=[{"role": "user", "content": "What is a fathom?"}])
print(answer.choices[0].message.content)
speech = client.audio.speech.create(model="flite", voice="alloy", input="Six feet.", response_format="mp3")
speech.write_to_file("fathom.mp3")
