# The AI Refinery SDK for Python, unchanged except for the base URL and the API key.
import os
from air import AIRefinery

client = AIRefinery(base_url=os.environ["SOUNDING_BASE_URL"], api_key=os.environ["SOUNDING_API_KEY"])
model = client.models.list().data[0].id
answer = client.chat.completions.create(model=model, messages=[{"role": "user", "content": "What is a fathom?"}])
print(answer.choices[0].message.content)
speech = client.audio.speech.create(model="flite", voice="slt", input="Six feet.")
speech.write_to_file("fathom.wav")
print(client.metrics.query(metric="token_consumption", time_window="1h").status)
print(client.traces.query(trace="inference_traces", limit=10)["traces"])
