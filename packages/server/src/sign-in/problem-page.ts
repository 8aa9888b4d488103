/** The page for people whose sign-in at an identity provider failed. It has no scripts, and shows the server's own words only. */
import { createHash } from "node:crypto";
import type { AppError } from "../errors.ts";
import type { ErrorWriter } from "../http/route.ts";

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
main { box-sizing: border-box; max-width: 32rem; padding: 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; }
small { opacity: 0.7; }
`;

const headers = {
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** @param consolePath the way from the page to the console */
export function problemPage(consolePath: string): ErrorWriter {
  return (error, { requestId }) => ({
    bytes: Buffer.from(pageOf(error, { consolePath, requestId })),
    type: "text/html; charset=utf-8",
    headers,
  });
}

function pageOf(
  { code, message }: AppError,
  { consolePath, requestId }: { readonly consolePath: string; readonly requestId: string | undefined },
): string {
  const title = code === "sign_in_refused" ? "You have no access" : "You could not be signed in";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sounding</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${escape(message)}</p>
<p><a href="${consolePath}sign-in">Back to the sign-in page</a></p>
<p><small>${escape(code)}${requestId === undefined ? "" : `, request ${escape(requestId)}`}</small></p>
</main>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
