/** The engine of one vendor that does not speak OpenAI's API. */
import { Agent } from "undici";
import type { VendorSettings } from "../../config/engines/vendors.ts";
import { engineTimeouts } from "../../config/engines/timeouts.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Engine, ModelDescription } from "../model.ts";
import { createAmazonBedrock } from "./amazon-bedrock.ts";
import { createAnthropic } from "./anthropic.ts";
import { createCohere } from "./cohere.ts";
import { createGoogle } from "./google.ts";
import { beginLiveCall } from "./live-call.ts";
import { createMistral } from "./mistral.ts";
import { createRehearsal } from "./rehearsal.ts";
import type { JsonReader, ModelFactory, Vendor } from "./vendor.ts";
import { createVendorChat, type VendorConnection } from "./vendor-chat.ts";
import { toVendorFailure } from "./vendor-failure.ts";
import { createVendorFetch } from "./vendor-fetch.ts";

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

/** A time limit; a setting that nobody has filled in has its schema's default. */
function milliseconds(settings: VendorSettings, name: keyof typeof engineTimeouts): number {
  return settings[name] ?? (Reflect.get(engineTimeouts[name], "default") as number);
}

function createAgent(settings: VendorSettings): Agent {
  return new Agent({
    connect: { timeout: milliseconds(settings, "connect_timeout_ms") },
    connections: settings.max_connections,
    maxResponseSize: largestAnswerBytes,
    allowH2: false,
  });
}

function connect(
  settings: VendorSettings,
  vendor: Vendor,
  closing: AbortSignal,
): VendorConnection & { dispatcher: Agent } {
  let factory: Promise<ModelFactory> | undefined;
  const loadFactory = (): Promise<ModelFactory> => (factory ??= vendor.load());
  let rehearsal: ReturnType<typeof createRehearsal> | undefined;
  return {
    vendor,
    closing,
    dispatcher: createAgent(settings),
    totalTimeoutMs: milliseconds(settings, "total_timeout_ms"),
    streamLimits: {
      firstByteTimeoutMs: milliseconds(settings, "first_byte_timeout_ms"),
      idleTimeoutMs: milliseconds(settings, "idle_timeout_ms"),
    },
    maxChoices: settings.max_choices,
    loadFactory,
    async rehearse(request, model) {
      rehearsal ??= createRehearsal({ vendor, create: await loadFactory() });
      await rehearsal(request, model);
    },
  };
}

/** Reads the vendor's own list of models. */
async function readModels(
  { vendor, dispatcher, closing, totalTimeoutMs }: VendorConnection,
  signal: AbortSignal,
): Promise<readonly ModelDescription[]> {
  const call = beginLiveCall({ signal, engineSignal: closing, totalTimeoutMs, label: vendor.label });
  const fetch = createVendorFetch({ dispatcher, call, label: vendor.label });
  const read: JsonReader = async (url, headers) => {
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as unknown;
    throw toVendorFailure({ message: text, statusCode: response.status }, vendor);
  };
  try {
    return (await vendor.listModels?.(read)) ?? [];
  } catch (error) {
    throw call.signal.reason instanceof AppError ? call.signal.reason : toVendorFailure(error, vendor);
  } finally {
    call.close();
  }
}

/** An engine for one of the vendors; its adapter is loaded with the first call. */
export function createVendorEngine(name: string, settings: VendorSettings, { logger }: { logger: Logger }): Engine {
  const vendor = createVendor(settings);
  const closing = new AbortController();
  const connection = connect(settings, vendor, closing.signal);
  return {
    name,
    chat: (model) => createVendorChat(model, connection),
    async listModels(signal) {
      if (settings.models !== undefined)
        return settings.models.map((id) => ({ id, created: 0, ownedBy: settings.type }));
      return readModels(connection, signal);
    },
    async close() {
      logger.debug({ engine: name }, "closing the vendor's connections");
      closing.abort(new AppError("overloaded", "The server is shutting down or its engines are changing."));
      await connection.dispatcher.destroy();
    },
  };
}
