/** The code that sends the same request: for a shell, in TypeScript and in Python. The key is in the environment. */
import type { ChatBody } from "./conversation.ts";

export const languages = [
  { id: "curl", title: "curl" },
  { id: "typescript", title: "TypeScript" },
  { id: "python", title: "Python" },
] as const;

export type Language = (typeof languages)[number]["id"];

/** Members that both client libraries know by name; others go into `extra_body`. */
const knownMembers = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "max_completion_tokens",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "logprobs",
  "top_logprobs",
  "response_format",
  "tools",
  "tool_choice",
  "user",
  "stream",
  "stream_options",
]);

/** @param root the API's address, with a slash at the end: `http://127.0.0.1:4141/` */
export function requestCode(language: Language, body: ChatBody, root: string): string {
  if (language === "curl") return curlCode(body, root);
  const known = Object.entries(body).filter(([name]) => knownMembers.has(name));
  const extra = Object.entries(body).filter(([name]) => !knownMembers.has(name));
  return language === "typescript" ? typescriptCode(known, extra, root) : pythonCode(known, extra, root);
}

type Members = readonly (readonly [string, unknown])[];

/** From standard input: command lines have a limited length, and nothing in the body needs quoting there. */
function curlCode(body: ChatBody, root: string): string {
  return [
    `curl --no-buffer ${root}v1/chat/completions \\`,
    '  -H "Authorization: Bearer $SOUNDING_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    "  --data-binary @- <<'JSON'",
    JSON.stringify(body, null, 2),
    "JSON",
    "",
  ].join("\n");
}

function typescriptCode(known: Members, extra: Members, root: string): string {
  const members = [...known, ...(extra.length === 0 ? [] : [["extra_body", Object.fromEntries(extra)] as const])];
  return [
    'import { AsyncSounding } from "@sounding/client";',
    "",
    `const client = new AsyncSounding({ baseUrl: ${JSON.stringify(root)}, apiKey: process.env.SOUNDING_API_KEY });`,
    "const stream = await client.chat.completions.create({",
    ...members.map(([name, value]) => `  ${name}: ${indent(JSON.stringify(value, null, 2), "  ")},`),
    "});",
    'for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");',
    "",
  ].join("\n");
}

function pythonCode(known: Members, extra: Members, root: string): string {
  const members = [...known, ...(extra.length === 0 ? [] : [["extra_body", Object.fromEntries(extra)] as const])];
  return [
    "import os",
    "",
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url=${JSON.stringify(`${root}v1`)}, api_key=os.environ["SOUNDING_API_KEY"])`,
    "stream = client.chat.completions.create(",
    ...members.map(([name, value]) => `    ${name}=${pythonValue(value, "    ")},`),
    ")",
    "for chunk in stream:",
    "    if chunk.choices:",
    '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
    "",
  ].join("\n");
}

function indent(text: string, by: string): string {
  return text.replaceAll("\n", `\n${by}`);
}

/** JSON's texts and numbers mean the same in Python. */
function pythonValue(value: unknown, margin: string): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${margin}    `;
  const items = Array.isArray(value)
    ? value.map((item) => pythonValue(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonValue(item, inner)}`);
  const [left, right] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return left + right;
  return `${left}\n${items.map((item) => `${inner}${item},\n`).join("")}${margin}${right}`;
}

/** As it is shown: images are megabytes of characters. Copying takes the whole. */
export function shortenImages(code: string): string {
  return code.replaceAll(/(data:image\/[\w.+-]{1,40};base64,.{40})[\w+/=]{100,}/g, "$1…");
}
