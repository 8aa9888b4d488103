/** An OpenAI-compatible server that streams a long answer at a fixed rate of tokens. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface TokenStream extends AsyncDisposable {
  readonly url: string;
}

export async function startTokenStream(tokensPerSecond: number, tokens: number): Promise<TokenStream> {
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "stream", object: "model" }] }));
      return;
    }
    request.resume();
    void writeTokens(response, { tokensPerSecond, tokens });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function writeTokens(
  response: ServerResponse,
  { tokensPerSecond, tokens }: { readonly tokensPerSecond: number; readonly tokens: number },
): Promise<void> {
  response.setHeader("content-type", "text/event-stream");
  const startMs = performance.now();
  for (let token = 0; token < tokens && !response.destroyed; token += 1) {
    const waitMs = startMs + (token * 1000) / tokensPerSecond - performance.now();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    response.write(event({ content: token % 40 === 39 ? "word.\n\n" : "word " }, null));
  }
  response.end(`${event({}, "stop")}data: [DONE]\n\n`);
}

function event(delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const chunk = { id: "c-1", object: "chat.completion.chunk", created: 1, model: "stream", choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
