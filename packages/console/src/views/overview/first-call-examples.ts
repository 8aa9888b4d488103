/** Code for the first call, with the address of this server. Keys are variables: the page does not know them. */

export interface Example {
  readonly title: string;
  readonly code: string;
}

export interface Examples {
  readonly calls: readonly Example[];
  readonly telemetry: readonly Example[];
  readonly demo: readonly Example[];
}

/** @param url the server's, without a slash at the end */
export function examplesOf(url: string, model: string): Examples {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] });
  const curl = `curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer $SOUNDING_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
  const typescript = `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${url}/v1", apiKey: process.env.SOUNDING_API_KEY });
const completion = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: "user", content: "Hello!" }],
});
console.log(completion.choices[0]?.message.content);`;
  const python = `import os
from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=os.environ["SOUNDING_API_KEY"])
completion = client.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": "Hello!"}],
)
print(completion.choices[0].message.content)`;
  const variables = `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$SOUNDING_API_KEY"
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_SERVICE_NAME=my-application
export OTEL_RESOURCE_ATTRIBUTES=project.name=my-project`;
  return {
    calls: [
      { title: "curl", code: curl },
      { title: "TypeScript", code: typescript },
      { title: "Python", code: python },
    ],
    telemetry: [{ title: "OpenTelemetry variables", code: variables }],
    demo: [{ title: "Sample data", code: "npx sounding demo" }],
  };
}
