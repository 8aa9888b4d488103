/** The page at `/docs`: the OpenAPI document in Scalar's API reference, with navigation, search and requests to try. */

/** https://scalar.com/products/api-references/configuration. Nothing of it leaves this server. */
const configuration = {
  agent: { disabled: true },
  authentication: { preferredSecurityScheme: "apiKey" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  documentDownloadType: "json",
  hideClientButton: true,
  hideModels: true,
  mcp: { disabled: true },
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
};

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:0}
.notice{max-width:40rem;margin:2rem auto;padding:0 1rem}
body:has(.scalar-app) .notice{display:none}
@media(prefers-color-scheme:dark){body{background:#0f0f0f;color:#e7e7e7}.notice a{color:#79c0ff}}`;

/** @param script the path of the reference's script, relative to the page; undefined: it is not installed */
export function renderDocsPage(script: string | undefined): string {
  const notice =
    script === undefined
      ? "This page needs development dependencies that are not installed: run <code>npm ci</code> without <code>--omit=dev</code>."
      : "The API reference is loading. It needs JavaScript.";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sounding API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<p class="notice">${notice} The same as data: <a href="openapi.json"><code>openapi.json</code></a>.</p>
${script === undefined ? "" : `<script id="api-reference" data-url="openapi.json" data-configuration="${attribute(JSON.stringify(configuration))}"></script>\n<script src="${script}"></script>\n`}</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}

export const docsPageHeaders = {
  "cache-control": "no-cache",
  // Scripts and requests of this server alone; Scalar writes style elements, and plays audio from memory.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data: blob:; media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
