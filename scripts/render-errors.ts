/** Renders docs/reference/errors.md from the error table. */
import { errorTable } from "../packages/server/src/errors.ts";

export function renderErrorsDocument(): string {
  const rows = Object.values(errorTable)
    .toSorted((a, b) => a.status - b.status)
    .map(
      ({ status, type, code, retryable, when }) =>
        `| ${status} | \`${type}\` | ${code === null ? "null" : `\`${code}\``} | ${retryable ? "yes" : "no"} | ${when} |`,
    );
  return `# Errors

Every error response has OpenAI's error object, and every response has the header \`x-request-id\`:

\`\`\`json
{
  "error": {
    "message": "temperature is 3; expected a number from 0 to 2.",
    "type": "invalid_request_error",
    "param": "temperature",
    "code": null
  }
}
\`\`\`

\`message\` states what is wrong, the value seen and the values allowed; \`param\` names the field. Responses with 429 and 503 have
\`Retry-After\` (and \`retry-after-ms\`). \`x-should-retry\` informs OpenAI's clients whether a retry can help.

After a stream has begun, an error is sent in the stream as \`data: {"error": …}\`, and the stream ends without \`data: [DONE]\`.
[The API's promises](interface.md#errors) describes the other kinds of streams.

This table is generated from \`packages/server/src/errors.ts\`.

| status | type | code | retry | when |
| --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
}
