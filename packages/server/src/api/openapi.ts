/**
 * Renders the operations as an OpenAPI 3.1 document, without a running server.
 * https://spec.openapis.org/oas/v3.1.1.html
 */
import { Type } from "typebox";
import { errorTable, type ErrorCode } from "../errors.ts";
import type { Operation } from "./operation.ts";

type Json = Record<string, unknown>;

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Json;
  readonly tags: Json[];
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { readonly schemas: Json; readonly securitySchemes: Json };
}

const errorSchema = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String({ description: "What is wrong, the value seen and the values allowed." }),
        type: Type.String({ description: "Type of the error." }),
        param: Type.Union([Type.String(), Type.Null()], { description: "The field that is wrong." }),
        code: Type.Union([Type.String(), Type.Null()], { description: "Machine-readable error code." }),
      },
      { description: "The error." },
    ),
  },
  { description: "An error in OpenAI's format." },
);

export function toOpenApi(operations: readonly Operation[], version: string): OpenApiDocument {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll("{+", "{");
    (paths[path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Sounding",
      version,
      description: "Chat completions, speech, transcription and telemetry behind one API key.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description:
            "A Sounding API key. It is also accepted as the password of HTTP Basic authentication, with any user name.",
        },
      },
    },
  };
}

function describeOperation(operation: Operation): Json {
  const { answer, stream } = operation;
  const parameters = [
    ...parametersIn("path", operation.pathParameters, true),
    ...parametersIn("query", operation.queryParameters, false),
    ...membersInQuery(operation),
  ];
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.permission === "none" ? {} : { security: [{ apiKey: [] }] }),
    ...(operation.permission === "none" || operation.permission === "any"
      ? {}
      : { "x-permission": operation.permission }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(operation),
    responses: {
      [answer.status ?? 200]: {
        description: answer.description,
        content: {
          [answer.type]: answer.schema === undefined ? {} : { schema: answer.schema.json },
          // OpenAPI 3.2 can describe the schema of one event; 3.1 readers ignore the extension.
          ...(stream === undefined ? {} : { [stream.type]: { "x-itemSchema": stream.schema.json } }),
        },
      },
      default: {
        description: errorsInWords(operation),
        content: errorContent(operation),
      },
    },
  };
}

function errorContent({ errors }: Operation): Json {
  if (errors === undefined) return { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return Object.fromEntries(errors.types.map((type) => [type, { schema: { description: errors.description } }]));
}

/** A GET request has no body: what its schema describes is in the query string. */
function membersInQuery({ body, method }: Operation): Json[] {
  if (body === undefined || method !== "GET") return [];
  const { properties, required = [] } = body.json as { properties: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, { anyOf, description, ...own }]) => {
    const [member, ...others] = ((anyOf as Json[] | undefined) ?? [own]).filter(({ type }) => type !== "null");
    const schema = others.length === 0 ? member! : { anyOf };
    // Objects are written as JSON.
    const value = schema["type"] === "object" ? { content: { "application/json": { schema } } } : { schema };
    return { name, in: "query", required: required.includes(name), description, ...value };
  });
}

function requestBody({ body, rawBody, form, example, method }: Operation): Json {
  if (form !== undefined)
    return { requestBody: { required: true, content: { "multipart/form-data": describeForm(form) } } };
  if (rawBody !== undefined) {
    const content = Object.fromEntries(rawBody.types.map((type) => [type, {}]));
    return { requestBody: { required: true, description: rawBody.description, content } };
  }
  if (body === undefined || method === "GET") return {};
  const content = { schema: body.json, ...(example === undefined ? {} : { example }) };
  return { requestBody: { required: true, content: { "application/json": content } } };
}

function describeForm({ fields, file }: NonNullable<Operation["form"]>): Json {
  const { properties, required, ...rest } = fields.json as { properties: Json; required?: string[] } & Json;
  // https://spec.openapis.org/oas/v3.1.1.html#special-considerations-for-multipart-content
  const binary = { type: "string", contentMediaType: "application/octet-stream", description: file };
  return { schema: { ...rest, properties: { file: binary, ...properties }, required: ["file", ...(required ?? [])] } };
}

function parametersIn(
  place: "path" | "query",
  parameters: Readonly<Record<string, string>> | undefined,
  required: boolean,
): Json[] {
  return Object.entries(parameters ?? {}).map(([name, description]) => ({
    name,
    in: place,
    required,
    description,
    schema: { type: "string" },
  }));
}

function errorsInWords(operation: Operation): string {
  const always: ErrorCode[] = ["internal"];
  const withKey: ErrorCode[] = operation.permission === "none" ? [] : ["invalid_api_key", "permission_denied"];
  const withBody: ErrorCode[] =
    (operation.body ?? operation.rawBody ?? operation.form) === undefined
      ? []
      : ["invalid_request", "payload_too_large"];
  const statuses = new Set([...withBody, ...withKey, ...always].map((code) => errorTable[code].status));
  return `An error: ${[...statuses].join(", ")}, or another one of the error table.`;
}
