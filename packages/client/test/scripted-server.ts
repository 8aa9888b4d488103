/** A local server that answers as each test scripts it and records its requests. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after } from "node:test";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Resolves when the answer's connection is closed, before or after the answer is complete. */
  readonly closed: Promise<void>;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>;

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Sets the answers to the next requests; the last one is repeated. */
  answer(...answers: Answer[]): void;
}

/** Starts the server; it stops after the tests of the file. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  let script: Answer[] = [];
  const requests: ReceivedRequest[] = [];
  const server = createServer((incoming, response) => {
    void receive(incoming, response).then(
      async (request) => {
        requests.push(request);
        const answer = script.length > 1 ? script.shift() : script[0];
        await answer?.(response, request);
      },
      // The client disconnected while sending.
      () => undefined,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(...answers) {
      script = answers;
      requests.length = 0;
    },
  };
}

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const closed = new Promise<void>((resolve) => {
    response.once("close", resolve);
  });
  return {
    method: incoming.method ?? "",
    url: incoming.url ?? "",
    headers: incoming.headers,
    body: await text(incoming),
    closed,
  };
}

/** Parses a request's form with an independent parser. */
export function formOf({ headers, body }: ReceivedRequest): Promise<FormData> {
  return new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
}

/** Answers with a JSON body. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Answers with OpenAI's error object. */
export function failure(
  status: number,
  headers: Record<string, string> = {},
  error: Record<string, unknown> = {},
): Answer {
  const body = { message: `refused with ${status}`, type: "some_error", param: null, code: null, ...error };
  return json({ error: body }, status, headers);
}

/** Answers with server-sent events; a string is sent unchanged, an object as one event. Ends unless `open`. */
export function events(frames: readonly unknown[], open = false): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "request-7" });
    for (const frame of frames) {
      response.write(typeof frame === "string" ? frame : `data: ${JSON.stringify(frame)}\n\n`);
    }
    if (!open) response.end();
  };
}

/** Answers with bytes of a media type, piece by piece. Ends unless `open`. */
export function bytes(type: string, pieces: readonly (string | Uint8Array)[], open = false): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": type, "x-request-id": "request-8" });
    for (const piece of pieces) response.write(piece);
    if (!open) response.end();
  };
}

/** Answers with bytes of a media type, then breaks the connection. */
export function brokenBytes(type: string, piece: string): Answer {
  return (response, request) => {
    void bytes(type, [piece], true)(response, request);
    setImmediate(() => response.destroy());
  };
}

export const done = "data: [DONE]\n\n";

/** A chunk of a chat completion with this text. */
export function chunk(content: string): unknown {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
  };
}

/** A whole chat completion with this text. */
export function completion(content: string): unknown {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  };
}
