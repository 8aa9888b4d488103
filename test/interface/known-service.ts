/**
 * Starts the server of the interface tests, with its own engines, one scripted vendor and the telemetry of two
 * organizations. The facts about it are plain data, so that they reach the thread of the synchronous client.
 */
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { otlpSender, type SentSpan } from "../support/otlp-sender.ts";
import { startServer, untilTelemetryReady } from "../support/running-server.ts";
import { makeKnownRecording, type KnownRecording } from "./known-recording.ts";
import { scriptedVendor } from "./scripted-vendor.ts";

export interface Facts extends KnownRecording {
  readonly url: string;
  readonly key: string;
  readonly operatorKey: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** A key of another organization, which has its own telemetry under the same names. */
  readonly strangerKey: string;
  readonly strangerId: string;
  /** A trace of the organization, and one of the other's. */
  readonly traceId: string;
  readonly strangerTraceId: string;
  /** The span of the log record of the service `detailed`; its trace is `traceId` or `strangerTraceId`. */
  readonly logSpanId: string;
  /** The time of the telemetry, nanoseconds since 1970. */
  readonly atUnixNano: string;
}

export interface KnownService extends AsyncDisposable {
  readonly facts: Facts;
}

export async function startKnownService(): Promise<KnownService> {
  const vendor = await startScriptedUpstream(scriptedVendor);
  const server = await startServer(
    `
engines: { vendor: { type: openai_compatible, base_url: "${vendor.url}/v1", models: [vendor-model, listener-transcribe-diarize, vendor-tts, embedder] } }
telemetry: { token_prices: { large: { input: 1, output: 4 } } }
models:
  assistant: { targets: [{ engine: vendor, model: vendor-model }], retries: { attempts: 1 } }
  listener: { targets: [{ engine: vendor, model: listener-transcribe-diarize }] }
  translator: { targets: [{ engine: vendor, model: whisper }] }
  speaker: { targets: [{ engine: vendor, model: vendor-tts }], retries: { attempts: 1 } }
`,
    { telemetry: true },
  );
  await untilTelemetryReady(server);
  const admin = async (path: string, body?: unknown): Promise<Record<string, string>> => {
    const response = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Record<string, string>;
  };
  const list = (await admin("/organizations")) as unknown as { data: { id: string; name: string }[] };
  const own = list.data[0]!;
  const stranger = await admin("/organizations", { name: "strangers" });
  const permissions = ["telemetry_read", "telemetry_write"];
  const strangerKey = await admin("/keys", { organization_id: stranger["id"], name: "all", permissions });
  const atUnixNano = BigInt(Date.now() - 600_000) * 1_000_000n;
  const traceId = "5b8efff798038103d269b633813fc60c";
  const strangerTraceId = "aa8efff798038103d269b633813fc6aa";
  await sendTelemetry(server.url, server.key, { atUnixNano, traceId, mark: "own" });
  await sendTelemetry(server.url, strangerKey["secret"]!, { atUnixNano, traceId: strangerTraceId, mark: "strange" });
  const recording = await makeKnownRecording(server.dataDirectory, async (input) => {
    const extra_body = { sample_rate: 16_000 };
    const response = await server.call("/v1/audio/speech", {
      model: "flite",
      voice: "rms",
      input,
      response_format: "pcm",
      extra_body,
    });
    if (!response.ok) throw new Error(await response.text());
    return Buffer.from(await response.arrayBuffer());
  });
  return {
    facts: {
      ...recording,
      url: server.url,
      key: server.key,
      operatorKey: server.operatorKey,
      organizationId: own.id,
      organizationName: own.name,
      strangerKey: strangerKey["secret"]!,
      strangerId: stranger["id"]!,
      traceId,
      strangerTraceId,
      atUnixNano: String(atUnixNano),
      logSpanId,
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await vendor.close();
    },
  };
}

interface Sent {
  readonly atUnixNano: bigint;
  readonly traceId: string;
  /** Part of every text, so that the organizations' data can be distinguished. */
  readonly mark: string;
}

const logSpanId = "00f067aa0ba902b7";
const hour = 3_600_000_000_000n;
const second = 1_000_000_000n;

async function sendTelemetry(url: string, key: string, { atUnixNano, traceId, mark }: Sent): Promise<void> {
  const sender = otlpSender(url, key);
  const log = (severityNumber: number, body: string, ago = 0n) => ({
    unixNano: atUnixNano - ago,
    body: `${mark} ${body}`,
    more: { severityNumber },
  });
  await sender.logs({ "service.name": "shop", "project.name": "shop" }, [
    log(5, "debugged"),
    log(9, "informed"),
    log(13, "warned"),
    log(17, "failed"),
    log(9, "two hours old", 2n * hour),
    log(9, "thirty hours old", 30n * hour),
  ]);
  await sender.logs(
    { "service.name": "many", "project.name": "many" },
    Array.from({ length: 510 }, (_, index) => log(9, `entry ${index}`)),
  );
  const details = [
    { key: "user.id", value: { intValue: "7" } },
    { key: "exception.stacktrace", value: { stringValue: `Error: ${mark}\n    at shop.ts:1` } },
  ];
  await sender.logs({ "service.name": "detailed", "project.name": "detailed", "host.name": "h1" }, [
    {
      unixNano: atUnixNano,
      body: `${mark} with details`,
      more: { severityNumber: 9, attributes: details, traceId, spanId: logSpanId },
    },
  ]);
  await sender.spans({ "service.name": "desk", "project.name": "desk" }, [
    ...agentTrace({ atUnixNano, traceId, mark }),
    ...Array.from({ length: 105 }, (_, index) => ({
      traceId: `${mark === "own" ? "c" : "d"}${index.toString().padStart(31, "0")}`,
      spanId: `c${index.toString().padStart(15, "0")}`,
      name: `${mark} chat ${index}`,
      startUnixNano: atUnixNano - second * 120n,
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "often" },
    })),
    {
      traceId: "f".repeat(32),
      spanId: "e".repeat(16),
      name: `${mark} old chat`,
      startUnixNano: atUnixNano - 3n * hour,
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "old" },
    },
  ]);
}

/** One run of each of two agents, one of which failed and one timed out, with their calls. */
function agentTrace({ atUnixNano, traceId, mark }: Sent): SentSpan[] {
  const agent = (name: string, agentClass: string) => ({
    "gen_ai.agent.name": name,
    "gen_ai.agent.class": agentClass,
    "session.id": `session of ${name}`,
  });
  const spans: Omit<SentSpan, "traceId" | "spanId" | "startUnixNano">[] = [
    run("planner", "ToolUseAgent", {}),
    run("seeker", "SearchAgent", { "error.type": "quota" }),
    run("sleeper", "SearchAgent", { "error.type": "timeout" }),
    {
      name: "chat large",
      duration: 2n * second,
      attributes: {
        ...agent("planner", "ToolUseAgent"),
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "large",
        "gen_ai.usage.input_tokens": 100n,
        "gen_ai.usage.output_tokens": 20n,
      },
    },
    {
      name: "chat small",
      duration: second,
      attributes: {
        ...agent("seeker", "SearchAgent"),
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small",
        "error.type": "content_filter",
        "gen_ai.guardrail.risk.category": "violence",
      },
      more: { status: { code: 2, message: "refused" } },
    },
  ];
  return spans.map((span, index) => ({
    ...span,
    name: `${mark} ${span.name}`,
    traceId,
    spanId: (index + 1).toString(16).padStart(16, "a"),
    startUnixNano: atUnixNano,
  }));

  function run(name: string, agentClass: string, more: Record<string, string>) {
    return {
      name: `invoke_agent ${name}`,
      duration: 3n * second,
      attributes: { ...agent(name, agentClass), "gen_ai.operation.name": "invoke_agent", ...more },
    };
  }
}
