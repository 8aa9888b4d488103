/** Asks for responses in the background, and for upstreams that answer when a test says so. */
import type { ScriptedExchange } from "../../packages/server/test/support/scripted-upstream.ts";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { readEvents } from "./messages-server.ts";

/** A gate that a script waits for. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Sends the first part, waits for the gate or the client's leaving, and sends the second. */
export async function answerInTwo(exchange: ScriptedExchange, parts: readonly [string, string], gate: Gate) {
  exchange.beginEvents();
  await exchange.send(parts[0]);
  await Promise.race([gate.opened, exchange.closed]);
  if (exchange.gone) return;
  await exchange.send(parts[1]);
  exchange.end();
}

export class ResponsesClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, key }: { readonly url: string; readonly key: string }, headers: Record<string, string> = {}) {
    this.#url = `${url}/v1/responses`;
    this.#headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
  }

  post(body: object): Promise<Response> {
    const sent = { model: "assistant", input: "Hello", background: true, ...body };
    return fetch(this.#url, { method: "POST", headers: this.#headers, body: JSON.stringify(sent) });
  }

  /** @returns the response as the server answers at once */
  async create(body: object = {}): Promise<JsonObject & { readonly id: string }> {
    const response = await this.post(body);
    const json = (await response.json()) as JsonObject & { readonly id: string };
    if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(json)}`);
    return json;
  }

  fetch(path: string, method = "GET", signal?: AbortSignal): Promise<Response> {
    return fetch(`${this.#url}/${path}`, {
      method,
      headers: this.#headers,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async ask(path: string, method = "GET"): Promise<JsonObject> {
    const response = await this.fetch(path, method);
    return { http: response.status, ...((await response.json()) as JsonObject) };
  }

  /** Polls until the response has one of these states. */
  async until(id: string, ...states: readonly string[]): Promise<JsonObject> {
    for (;;) {
      const response = await this.ask(id);
      if (response["http"] !== 200) throw new Error(JSON.stringify(response));
      if (states.includes(String(response["status"]))) return response;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async events(path: string): Promise<JsonObject[]> {
    return eventsOf(await this.fetch(path));
  }
}

export async function eventsOf(response: Response): Promise<JsonObject[]> {
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await readEvents(response)).map(({ data }) => JSON.parse(data) as JsonObject);
}

/** Reads the events of a stream until one has this type, and leaves. */
export async function readUntil(response: Response, type: string): Promise<JsonObject[]> {
  const events: JsonObject[] = [];
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop()!;
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data === undefined) continue;
      const event = JSON.parse(data.slice("data: ".length)) as JsonObject;
      events.push(event);
      if (event["type"] === type) return events;
    }
  }
  throw new Error(`the stream ended without ${type}: ${JSON.stringify(events.map((event) => event["type"]))}`);
}

export const sequenceOf = (events: readonly JsonObject[]): unknown[] => events.map((event) => event["sequence_number"]);
export const typesOf = (events: readonly JsonObject[]): unknown[] => events.map((event) => event["type"]);
