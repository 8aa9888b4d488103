/** Runs an instrumented application, unchanged, against a gateway. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Application } from "./applications.ts";
import type { Gateway } from "./gateway.ts";
import { childEnvironment } from "../support/child-environment.ts";

const directory = fileURLToPath(new URL("applications/", import.meta.url));

/** Whether the application needs Python. */
export function isPython({ file }: Application): boolean {
  return file.endsWith(".py");
}

/** @param python the interpreter with the packages of `test/support/python/instrumentations.txt` */
export async function runApplication(application: Application, gateway: Gateway, python: string): Promise<void> {
  const { file, name, tracesHttp } = application;
  gateway.begin(name);
  const env = {
    ...childEnvironment,
    OPENAI_BASE_URL: `${gateway.url}/v1`,
    OPENAI_API_KEY: gateway.server.key,
    OTEL_EXPORTER_OTLP_ENDPOINT: gateway.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_LOGS_EXPORTER: "none",
    OTEL_METRICS_EXPORTER: "none",
    OTEL_NODE_RESOURCE_DETECTORS: "env",
    OTEL_SERVICE_NAME: "support-bot",
    OTEL_RESOURCE_ATTRIBUTES: `project.name=${name}`,
    OPENAI_AGENTS_DISABLE_TRACING: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    TRACE_HTTP: tracesHttp ? "yes" : "no",
  };
  const program = isPython(application) ? python : process.execPath;
  await promisify(execFile)(program, [file, ...(application.arguments ?? [])], { env, cwd: directory });
}
