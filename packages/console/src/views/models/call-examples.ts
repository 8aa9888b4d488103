/** Code that calls a model, for each of its capabilities. */
import { apiRoot } from "../../api/request.ts";
import type { Capability } from "./model-rows.ts";

export interface CallExample {
  readonly language: "curl" | "TypeScript" | "Python";
  readonly code: string;
}

export function callExamples(capability: Capability, model: string): readonly CallExample[] {
  const base = apiRoot.href.replace(/\/$/, "");
  const examples = {
    chat: chatExamples,
    speech: speechExamples,
    transcription: transcriptionExamples,
    embeddings: embeddingExamples,
  };
  return examples[capability](`${base}/v1`, JSON.stringify(model));
}

/** In single quotes for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const clients = {
  typescript: (base: string) =>
    `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${base}", apiKey: process.env.SOUNDING_API_KEY });\n`,
  python: (base: string) =>
    `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${base}", api_key=os.environ["SOUNDING_API_KEY"])\n`,
};

const authorization = '-H "Authorization: Bearer $SOUNDING_API_KEY"';

function chatExamples(base: string, model: string): readonly CallExample[] {
  const json = `{"model": ${model}, "messages": [{"role": "user", "content": "Hello!"}]}`;
  return [
    {
      language: "curl",
      code: `curl ${base}/chat/completions ${authorization} \\\n  -H "Content-Type: application/json" \\\n  -d ${quoted(json)}`,
    },
    {
      language: "TypeScript",
      code: `${clients.typescript(base)}const completion = await client.chat.completions.create({\n  model: ${model},\n  messages: [{ role: "user", content: "Hello!" }],\n});\nconsole.log(completion.choices[0]?.message.content);`,
    },
    {
      language: "Python",
      code: `${clients.python(base)}completion = client.chat.completions.create(\n    model=${model},\n    messages=[{"role": "user", "content": "Hello!"}],\n)\nprint(completion.choices[0].message.content)`,
    },
  ];
}

function embeddingExamples(base: string, model: string): readonly CallExample[] {
  const json = `{"model": ${model}, "input": ["six feet", "one fathom"]}`;
  return [
    {
      language: "curl",
      code: `curl ${base}/embeddings ${authorization} \\\n  -H "Content-Type: application/json" \\\n  -d ${quoted(json)}`,
    },
    {
      language: "TypeScript",
      code: `${clients.typescript(base)}const { data } = await client.embeddings.create({\n  model: ${model},\n  input: ["six feet", "one fathom"],\n});\nconsole.log(data[0]?.embedding.length);`,
    },
    {
      language: "Python",
      code: `${clients.python(base)}answer = client.embeddings.create(\n    model=${model},\n    input=["six feet", "one fathom"],\n)\nprint(len(answer.data[0].embedding))`,
    },
  ];
}

function speechExamples(base: string, model: string): readonly CallExample[] {
  const json = `{"model": ${model}, "voice": "alloy", "input": "Hello from Sounding.", "response_format": "mp3"}`;
  return [
    {
      language: "curl",
      code: `curl ${base}/audio/speech ${authorization} \\\n  -H "Content-Type: application/json" -o hello.mp3 \\\n  -d ${quoted(json)}`,
    },
    {
      language: "TypeScript",
      code: `import { writeFile } from "node:fs/promises";\n${clients.typescript(base)}const speech = await client.audio.speech.create({\n  model: ${model},\n  voice: "alloy",\n  input: "Hello from Sounding.",\n});\nawait writeFile("hello.mp3", Buffer.from(await speech.arrayBuffer()));`,
    },
    {
      language: "Python",
      code: `${clients.python(base)}speech = client.audio.speech.create(\n    model=${model},\n    voice="alloy",\n    input="Hello from Sounding.",\n)\nspeech.write_to_file("hello.mp3")`,
    },
  ];
}

function transcriptionExamples(base: string, model: string): readonly CallExample[] {
  return [
    {
      language: "curl",
      code: `curl ${base}/audio/transcriptions ${authorization} \\\n  -F ${quoted(`model=${JSON.parse(model) as string}`)} -F file=@hello.mp3`,
    },
    {
      language: "TypeScript",
      code: `import { createReadStream } from "node:fs";\n${clients.typescript(base)}const transcription = await client.audio.transcriptions.create({\n  model: ${model},\n  file: createReadStream("hello.mp3"),\n});\nconsole.log(transcription.text);`,
    },
    {
      language: "Python",
      code: `${clients.python(base)}with open("hello.mp3", "rb") as file:\n    transcription = client.audio.transcriptions.create(model=${model}, file=file)\nprint(transcription.text)`,
    },
  ];
}
