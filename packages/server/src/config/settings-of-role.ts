/** The parts of a configuration that a server with its role uses. */
import { takes } from "../server-role.ts";
import type { AlertSettings } from "./alerts.ts";
import type { Config } from "./config.ts";

/** Without models, unless the server takes calls to models. */
export function modelsOf(config: Config): Config {
  if (takes(config.server.role, "inference")) return config;
  return { ...config, engines: {}, models: {}, aliases: {}, discovery: { ...config.discovery, enabled: false } };
}

/** Alert rules are evaluated where telemetry is queried. */
export function alertsOf({ alerts, server }: Config): AlertSettings {
  return { ...alerts, enabled: alerts.enabled && takes(server.role, "telemetry_read") };
}
