/** The message of a started server: its address, the first keys, and three commands to paste. */

export interface Welcome {
  readonly url: string;
  /** The secrets that the first start created. */
  readonly firstStart:
    | { readonly organization: string; readonly key: string; readonly operatorKey: string | undefined }
    | undefined;
}

/** The model that always exists, for testing the pipeline. */
const trialModel = "sounding-trial";

export function renderWelcome({ url, firstStart }: Welcome): string {
  const key = firstStart?.key ?? "$SOUNDING_API_KEY";
  return `Sounding accepts calls at ${url} (API documentation: ${url}/docs).

${firstStart === undefined ? laterStart : renderFirstKeys(firstStart)}
Three things to try, each in another terminal, from this folder:

  curl ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
    -d '{"model": "${trialModel}", "messages": [{"role": "user", "content": "Hello!"}]}'

  SOUNDING_BASE_URL=${url} SOUNDING_API_KEY=${key} \\
    npx sounding chat --model ${trialModel} "Hello!"

  OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${key} npx node --input-type=module -e '
    import OpenAI from "openai";
    const messages = [{ role: "user", content: "Hello!" }];
    const stream = await new OpenAI().chat.completions.create({ model: "${trialModel}", messages, stream: true });
    for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "\\n");'

`;
}

const laterStart = `The first key was printed at the first start. To create another: npx sounding key create --help
`;

export function renderFirstKeys({ organization, key, operatorKey }: NonNullable<Welcome["firstStart"]>): string {
  const operator =
    operatorKey === undefined ? "" : `  operator key    ${operatorKey}   (administers the server; store it safely)\n`;
  return `This is the first start. Sounding created the following and shows the keys only once:

  organization    ${organization}
  project         default
  API key         ${key}
${operator}`;
}
