/** Implements the engine of one vendor that does not offer OpenAI's API. docs/adr/0009-upstreams-and-wires.md */
import { Agent } from "undici";
import type { VendorSettings } from "../../config/engines/vendors.ts";
import type { TargetTimeouts } from "../../config/engines/upstream.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { ChatEngine, ModelDescription } from "../engine.ts";
import { timeLimits } from "../upstream-http/time-limits.ts";
import { createAmazonBedrock } from "./amazon-bedrock.ts";
import { createAnthropic } from "./anthropic.ts";
import { createCohere } from "./cohere.ts";
import { createGoogle } from "./google.ts";
import { beginVendorCall } from "./vendor-call.ts";
import { createMistral } from "./mistral.ts";
import { isEmbeddingName } from "./model-names.ts";
import { createPreflight } from "./preflight.ts";
import type { JsonReader, ProviderFactory, Vendor } from "./vendor.ts";
import type { VendorConnection } from "./vendor-connection.ts";
import { createVendorChat } from "./vendor-chat.ts";
import { toVendorError } from "./vendor-error.ts";
import { createVendorEmbeddings } from "./vendor-embeddings.ts";
import { createVendorFetch } from "./vendor-fetch.ts";
import { createVendorWires } from "./vendor-wire.ts";

const largestAnswerBytes = 256 * 1024 * 1024;

function createVendor(settings: VendorSettings): Vendor {
  switch (settings.type) {
    case "anthropic":
      return createAnthropic(settings);
    case "google":
      return createGoogle(settings);
    case "amazon_bedrock":
      return createAmazonBedrock(settings);
    case "mistral":
      return createMistral(settings);
    case "cohere":
    default:
      return createCohere(settings);
  }
}

/** The connections to a vendor. The limit on connecting belongs to a pool of them, so each limit has its own. */
function createAgents(maxConnections: number) {
  const agents = new Map<number, Agent>();
  return {
    get(connectTimeoutMs: number): Agent {
      let agent = agents.get(connectTimeoutMs);
      if (agent === undefined) {
        agent = new Agent({
          connect: { timeout: connectTimeoutMs },
          connections: maxConnections,
          maxResponseSize: largestAnswerBytes,
          allowH2: false,
        });
        agents.set(connectTimeoutMs, agent);
      }
      return agent;
    },
    async destroy(): Promise<void> {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/** Creates the connection for calls with one set of timeouts. */
function createConnector(settings: VendorSettings, vendor: Vendor, closing: AbortSignal) {
  const agents = createAgents(settings.max_connections);
  let factory: Promise<ProviderFactory> | undefined;
  const loadFactory = (): Promise<ProviderFactory> => (factory ??= vendor.load());
  const preflight = createPreflight({ vendor, loadFactory });
  return {
    connect(timeouts: TargetTimeouts = {}): VendorConnection {
      const limits = timeLimits(settings, timeouts);
      return {
        vendor,
        closing,
        dispatcher: agents.get(limits.connectTimeoutMs),
        limits,
        maxChoices: settings.max_choices,
        loadFactory,
        preflight,
      };
    },
    close: () => agents.destroy(),
  };
}

/** Reads the vendor's own list of models. */
async function readModels(
  { vendor, dispatcher, closing, limits }: VendorConnection,
  signal: AbortSignal,
): Promise<readonly ModelDescription[]> {
  const call = beginVendorCall({
    signal,
    engineSignal: closing,
    totalTimeoutMs: limits.totalTimeoutMs,
    label: vendor.label,
  });
  const fetch = createVendorFetch({ dispatcher, call, label: vendor.label });
  const read: JsonReader = async (url, headers) => {
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as unknown;
    throw toVendorError({ message: text, statusCode: response.status }, vendor);
  };
  try {
    return (await vendor.listModels?.(read)) ?? [];
  } catch (error) {
    throw call.signal.reason instanceof AppError ? call.signal.reason : toVendorError(error, vendor);
  } finally {
    call.close();
  }
}

/** An engine for one of the vendors; its adapter is loaded with the first call. */
export function createVendorEngine(name: string, settings: VendorSettings, { logger }: { logger: Logger }): ChatEngine {
  const vendor = createVendor(settings);
  const closing = new AbortController();
  const connector = createConnector(settings, vendor, closing.signal);
  const wires = createVendorWires(vendor.wire, { name, settings, logger });
  return {
    name,
    chat: (model, timeouts) => ({
      ...createVendorChat(model, connector.connect(timeouts)),
      wires: wires.forModel(model, timeouts),
    }),
    embeddings: (model, timeouts) => createVendorEmbeddings(model, connector.connect(timeouts)),
    // The vendors' APIs do not say for each model what it is for.
    listedFor: (model) => [vendor.embeddings !== undefined && isEmbeddingName(model) ? "embeddings" : "chat"],
    async listModels(signal) {
      if (settings.models !== undefined)
        return settings.models.map((id) => ({ id, created: 0, ownedBy: settings.type }));
      return readModels(connector.connect(), signal);
    },
    async close() {
      logger.debug({ engine: name }, "closing the vendor's connections");
      closing.abort(new AppError("overloaded", "The server is shutting down or its engines are changing."));
      await Promise.all([connector.close(), wires.close()]);
    },
  };
}
