/** Passes calls through to a vendor whose own API is a wire of ours. */
import type { TargetTimeouts } from "../../config/engines/upstream.ts";
import type { VendorSettings } from "../../config/engines/vendors.ts";
import type { Logger } from "../../logger.ts";
import type { ChatModel } from "../engine.ts";
import { splitBaseUrl } from "../upstream-http/base-url.ts";
import { ConnectionPool } from "../upstream-http/connection-pool.ts";
import { timeLimits } from "../upstream-http/time-limits.ts";
import { createWireModel } from "../upstream-http/wire-model.ts";
import type { VendorWire } from "./vendor.ts";

const maxAnswerBytes = 33_554_432;
const maxEventBytes = 8_388_608;

export interface VendorWires {
  forModel(model: string, timeouts?: TargetTimeouts): NonNullable<ChatModel["wires"]>;
  close(): Promise<void>;
}

/** @param wire undefined: the vendor's API is none of our wires */
export function createVendorWires(
  wire: VendorWire | undefined,
  { name, settings, logger }: { readonly name: string; readonly settings: VendorSettings; readonly logger: Logger },
): VendorWires {
  if (wire === undefined) return { forModel: () => ({}), close: () => Promise.resolve() };
  const { origin, path } = splitBaseUrl(wire.baseUrl);
  const pool = new ConnectionPool({
    origin,
    maxConnections: settings.max_connections,
    maxQueued: settings.max_connections,
    queueTimeoutMs: settings.total_timeout_ms,
    connectTimeoutMs: settings.connect_timeout_ms,
    onCredentialsRefused: (status) => logger.error({ engine: name, status }, "an engine rejected its credentials"),
  });
  return {
    forModel(model, timeouts) {
      const limits = timeLimits(settings, timeouts);
      pool.raiseConnectTimeout(limits.connectTimeoutMs);
      const pathOf = (operation?: string): string =>
        operation === undefined ? `${path}/${wire.name}` : `${path}/${wire.name}/${operation}`;
      const { headers, defaultHeaders } = wire;
      return {
        [wire.name]: createWireModel({
          pool,
          limits,
          headers,
          defaultHeaders,
          model,
          pathOf,
          unsupportedParameters: [],
          maxAnswerBytes,
          maxEventBytes,
        }),
      };
    },
    close: () => pool.close(),
  };
}
