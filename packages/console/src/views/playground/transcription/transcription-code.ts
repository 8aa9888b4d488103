/** A transcription as code. */
import type { CodeLanguage } from "../code-menu.tsx";
import { inPython, inShell } from "../code-values.ts";
import { transcriptionFields, type TranscriptionParameters } from "./transcription-parameters.ts";

/** @param url of the server, without a slash at its end */
export function transcriptionCode(
  language: CodeLanguage,
  {
    url,
    parameters,
    file,
  }: { readonly url: string; readonly parameters: TranscriptionParameters; readonly file: string },
): string {
  const fields = transcriptionFields(parameters);
  switch (language) {
    case "curl": {
      const parts = Object.entries(fields).map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        // Unlike -F, --form-string gives @ and < no meaning.
        return `  --form-string ${inShell(`${name}=${text}`)}`;
      });
      return [
        `curl ${url}/v1/audio/transcriptions`,
        `  -H "Authorization: Bearer $SOUNDING_API_KEY"`,
        ...parts,
        `  -F ${inShell(`file=@${file}`)}\n`,
      ].join(" \\\n");
    }
    case "TypeScript":
      return [
        `import { AsyncSounding } from "@sounding/client";\n`,
        `const sounding = new AsyncSounding({ baseUrl: ${JSON.stringify(url)} });`,
        `const transcription = await sounding.audio.transcriptions.create(${JSON.stringify({ ...fields, file }, null, 2)});`,
        `console.log(transcription.text);\n`,
      ].join("\n");
    case "Python": {
      const lines = Object.entries(fields).map(([name, value]) => `    ${name}=${inPython(value)},`);
      return [
        "import os\n",
        "from openai import OpenAI\n",
        `client = OpenAI(base_url=${inPython(`${url}/v1`)}, api_key=os.environ["SOUNDING_API_KEY"])`,
        `with open(${inPython(file)}, "rb") as file:`,
        `    transcription = client.audio.transcriptions.create(\n${[...lines, "    file=file,"].map((line) => `    ${line}`).join("\n")}\n    )`,
        `print(transcription.text)\n`,
      ].join("\n");
    }
  }
}
