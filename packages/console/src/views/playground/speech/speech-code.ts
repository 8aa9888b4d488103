/** A speech call as code, which writes the audio to a file. */
import type { CodeLanguage } from "../code-menu.tsx";
import { inPython, inShell } from "../code-values.ts";
import { speechBody, type SpeechFormat, type SpeechParameters } from "./speech-parameters.ts";

/** Parameters that OpenAI's client does not know. */
const extras = new Set(["sample_rate", "speech_synthesis_language"]);

/** @param url of the server, without a slash at its end */
export function speechCode(
  language: CodeLanguage,
  {
    url,
    parameters,
    format,
  }: { readonly url: string; readonly parameters: SpeechParameters; readonly format: SpeechFormat },
): string {
  const body = speechBody(parameters, format);
  const file = `speech.${format}`;
  switch (language) {
    case "curl":
      return [
        `curl ${url}/v1/audio/speech \\`,
        `  -H "Authorization: Bearer $SOUNDING_API_KEY" -H "Content-Type: application/json" \\`,
        `  -d ${inShell(JSON.stringify(body))} -o ${file}\n`,
      ].join("\n");
    case "TypeScript":
      return [
        `import { AsyncSounding } from "@sounding/client";\n`,
        `const sounding = new AsyncSounding({ baseUrl: ${JSON.stringify(url)} });`,
        `const speech = await sounding.audio.speech.create(${JSON.stringify(body, null, 2)});`,
        `await speech.write_to_file(${JSON.stringify(file)});\n`,
      ].join("\n");
    case "Python": {
      const known = Object.entries(body).filter(([name]) => !extras.has(name));
      const others = Object.fromEntries(Object.entries(body).filter(([name]) => extras.has(name)));
      const lines = known.map(([name, value]) => `    ${name}=${inPython(value)},`);
      if (Object.keys(others).length > 0) lines.push(`    extra_body=${inPython(others)},`);
      return [
        "import os\n",
        "from openai import OpenAI\n",
        `client = OpenAI(base_url=${inPython(`${url}/v1`)}, api_key=os.environ["SOUNDING_API_KEY"])`,
        `speech = client.audio.speech.create(\n${lines.join("\n")}\n)`,
        `speech.write_to_file(${inPython(file)})\n`,
      ].join("\n");
    }
  }
}
