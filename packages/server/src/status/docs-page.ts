/** The OpenAPI document as one readable page: no scripts, no outside resources. */
import type { OpenApiDocument } from "../api/openapi.ts";
import { describeSchema } from "../api/describe-schema.ts";

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

interface DescribedOperation {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly "x-permission"?: string;
  readonly parameters?: readonly { name: string; in: string; description: string }[];
  readonly requestBody?: { content: Record<string, { schema?: JsonSchema; example?: unknown }> };
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, { schema?: JsonSchema; "x-itemSchema"?: JsonSchema }> }
  >;
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #d0d7de}code,pre{font:0.9em ui-monospace,monospace;background:#f6f8fa;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}.method{font-weight:600;color:#0550ae}table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-bottom:1px solid #eaeef2}summary{cursor:pointer;margin:.6rem 0}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}code,pre{background:#161b22}h2,td,th{border-color:#30363d}.method{color:#79c0ff}}`;

export function renderDocsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      path,
      method: method.toUpperCase(),
      described: described as unknown as DescribedOperation,
    })),
  );
  const sections = document.tags.map(({ name }) => {
    const own = operations.filter(({ described }) => described.tags.includes(String(name)));
    return `<h2>${escape(String(name))}</h2>${own.map(renderOperation).join("")}`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sounding API</title><style>${style}</style>
<h1>Sounding API</h1><p>${escape(String(document.info["description"]))} Version ${escape(String(document.info["version"]))}. The same as data: <a href="/openapi.json"><code>/openapi.json</code></a>.</p>
<p>Send your key as <code>Authorization: Bearer &lt;API key&gt;</code>. Errors have OpenAI's shape, and every answer an <code>x-request-id</code>.</p>${sections.join("")}</html>`;
}

function renderOperation({
  path,
  method,
  described,
}: {
  path: string;
  method: string;
  described: DescribedOperation;
}): string {
  const [type, content] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  const answers = Object.entries(described.responses).flatMap(([status, response]) =>
    Object.entries(response.content ?? {}).map(([media, { schema, "x-itemSchema": item }]) => ({
      status,
      media,
      text: response.description,
      schema: schema ?? item,
    })),
  );
  const example =
    content?.example === undefined ? "" : `<pre>${escape(JSON.stringify(content.example, null, 2))}</pre>`;
  return `<h3 id="${escape(`${method} ${path}`)}"><span class="method">${method}</span> <code>${escape(path)}</code></h3>
<p>${escape(described.summary)}.${described["x-permission"] === undefined ? "" : ` Needs the permission <code>${escape(described["x-permission"])}</code>.`}</p>
${described.description === undefined ? "" : `<p>${escape(described.description)}</p>`}${renderParameters(described)}
${content?.schema === undefined ? "" : `<details open><summary>Request, ${escape(type ?? "")}</summary>${renderSchema(content.schema, 0)}${example}</details>`}
${answers.map(({ status, media, text, schema }) => `<details><summary>${escape(status)}, ${escape(media)}: ${escape(text)}</summary>${schema === undefined ? "" : renderSchema(schema, 0)}</details>`).join("")}`;
}

function renderParameters({ parameters = [] }: DescribedOperation): string {
  if (parameters.length === 0) return "";
  return `<table>${parameters.map(({ name, in: place, description }) => `<tr><td><code>${escape(name)}</code></td><td>${escape(place)}</td><td>${escape(description)}</td></tr>`).join("")}</table>`;
}

const deepestLevel = 4;

function renderSchema(schema: JsonSchema, level: number): string {
  const object = objectIn(schema);
  if (object?.properties === undefined || level > deepestLevel) return "";
  const rows = Object.entries(object.properties).map(([name, property]) => {
    const required = object.required?.includes(name) === true ? " <em>required</em>" : "";
    return `<tr><td><code>${escape(name)}</code>${required}</td><td>${escape(describeSchema(property))}</td><td>${escape(property.description ?? "")}${renderSchema(property, level + 1)}</td></tr>`;
  });
  return `<table>${rows.join("")}</table>`;
}

/** The object that a schema is, has as items, or has among its alternatives. */
function objectIn(schema: JsonSchema): JsonSchema | undefined {
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return objectIn(schema.items);
  return schema.anyOf?.map(objectIn).find((branch) => branch !== undefined);
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
