/**
 * A server with a scripted model, and in front of it a proxy that applications use as if it were Sounding: it puts each
 * application into a project of its own, and records what it sends.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { decode } from "../../packages/server/test/otlp/oracle.ts";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";
import type { RecordedCall } from "./recording.ts";
import { numberedResponses } from "./scripted-model.ts";

export interface Gateway extends AsyncDisposable {
  /** The proxy. */
  readonly url: string;
  readonly server: RunningServer;
  readonly calls: readonly RecordedCall[];
  readonly exports: readonly unknown[];
  /** Begins an application's recording. */
  begin(application: string): void;
}

export async function startGateway(): Promise<Gateway> {
  const upstream = await startScriptedUpstream(() => {});
  const server = await startServer(
    `
discovery: { enabled: false }
engines: { scripted: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m-2026] } }
models: { assistant: { targets: [{ engine: scripted, model: m-2026 }], retries: { attempts: 1 } } }
`,
    { telemetry: true },
  );
  await untilTelemetryReady(server);
  let project = "";
  let calls: RecordedCall[] = [];
  let exports: unknown[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const { traceparent } = request.headers;
    const passed = typeof traceparent === "string" ? traceparent : undefined;
    if (request.url === "/v1/traces") exports.push(toOtlpJson(body));
    else calls.push({ traceparent: passed, body: body.toString() });
    const answer = await fetch(`${server.url}${request.url}`, {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${server.key}`,
        "content-type": request.headers["content-type"]!,
        ...(request.url === "/v1/traces" ? {} : { "x-project": project }),
        ...(passed === undefined ? {} : { traceparent: passed }),
      },
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type")! });
    await pipeline(Readable.fromWeb(answer.body!), response);
  };
  const proxy = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    server,
    get calls() {
      return calls;
    },
    get exports() {
      return exports;
    },
    begin(application) {
      project = application;
      calls = [];
      exports = [];
      upstream.script = numberedResponses(application);
    },
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await server[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** OTLP/JSON has IDs in hexadecimal digits. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
function toOtlpJson(body: Buffer): unknown {
  const isId = /^(?:trace|span|parentSpan)Id$/;
  return JSON.parse(JSON.stringify(decode("ExportTraceServiceRequest", body)), (key, value: unknown) =>
    isId.test(key) && typeof value === "string" ? Buffer.from(value, "base64").toString("hex") : value,
  );
}
