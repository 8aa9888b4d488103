/** An OpenAI-compatible server that streams a long answer at a fixed rate of tokens. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface TokenStream extends AsyncDisposable {
  readonly url: string;
}

export async function startTokenStream(tokensPerSecond: number, tokens: number): Promise<TokenStream> {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "stream", object: "model" }] }));
      return;
    }
    request.resume();
    response.setHeader("content-type", "text/event-stream");
    const event = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "c-1", object: "chat.completion.chunk", created: 1, model: "stream", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const startMs = performance.now();
    for (let token = 0; token < tokens; token += 1) {
      const dueMs = startMs + (token * 1000) / tokensPerSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (response.destroyed) return;
      response.write(event({ content: token % 40 === 39 ? "word.\n\n" : "word " }, null));
    }
    response.end(`${event({}, "stop")}data: [DONE]\n\n`);
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
