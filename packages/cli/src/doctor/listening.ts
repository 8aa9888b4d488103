/** Checks whether the server runs, or whether its configured ports are free. */
import type { Config } from "@sounding/server";
import { failed, ok, warning, type Finding } from "./finding.ts";
import { readHttp, whyNotListen } from "./network.ts";

export interface Listening {
  readonly findings: readonly Finding[];
  /** Whether Sounding answers at the address. */
  readonly runs: boolean;
}

/**
 * Checks the address that calls are sent to and, if no server runs there, the configured ports.
 * @param mustRun whether a server that does not respond is a fault, and not one to be started here
 */
export async function checkListening(url: string, config: Config | undefined, mustRun: boolean): Promise<Listening> {
  const ready = await readHttp(`${url}/readyz`);
  const health = healthOf(ready?.json);
  if (health !== undefined) return { findings: [readiness(url, health)], runs: true };
  const findings: Finding[] = [];
  if (ready !== undefined) {
    const advice = "Set the server's address in SOUNDING_BASE_URL or --url.";
    findings.push(failed("server", `a server other than Sounding responds at ${url}`, advice));
  } else if (mustRun) {
    const advice = "Check the address, and that the server runs and can be reached from this machine.";
    findings.push(failed("server", `no server responds at ${url}`, advice));
  } else findings.push(ok("server", `no server runs at ${url}; start one with \`sounding serve\``));
  if (config !== undefined) findings.push(...(await checkPorts(config)));
  return { findings, runs: false };
}

interface Health {
  readonly status: "ok" | "degraded" | "unavailable";
  readonly checks: Readonly<Record<string, string>>;
}

function healthOf(answer: unknown): Health | undefined {
  if (typeof answer !== "object" || answer === null || !("status" in answer)) return undefined;
  const { status, checks = {} } = answer as { status: unknown; checks?: Record<string, string> };
  return status === "ok" || status === "degraded" || status === "unavailable" ? { status, checks } : undefined;
}

/** A server that takes calls may still have something switched off. */
function readiness(url: string, { status, checks }: Health): Finding {
  const parts = Object.entries(checks)
    .filter(([, state]) => state !== "ok")
    .map(([name, state]) => `${name.replaceAll("_", " ")}: ${state}`);
  if (status === "unavailable") return failed("server", `runs at ${url}, but ${parts.join("; ")}`, "See its log.");
  return parts.length === 0 ? ok("server", `runs at ${url}`) : warning("server", `runs at ${url}; ${parts.join("; ")}`);
}

async function checkPorts({ server, otlp }: Config): Promise<Finding[]> {
  const ports: [name: string, port: number | undefined, setting: string][] = [
    ["port", server.port, "server.port or --port"],
    ["gRPC port", otlp.grpc_port, "otlp.grpc_port"],
  ];
  const findings: Finding[] = [];
  for (const [area, port, setting] of ports) {
    if (port === undefined || port === 0) continue;
    const why = await whyNotListen(server.host, port);
    findings.push(portFinding({ area, place: `${server.host}:${port}`, why, setting }));
  }
  return findings;
}

function portFinding({
  area,
  place,
  why,
  setting,
}: {
  readonly area: string;
  readonly place: string;
  readonly why: string | undefined;
  readonly setting: string;
}): Finding {
  switch (why) {
    case undefined:
      return ok(area, `${place} is free`);
    case "EADDRINUSE":
      return failed(
        area,
        `${place} is used by another program`,
        `Stop that program, or set another port with ${setting}.`,
      );
    case "EACCES":
      return failed(area, `this user may not listen on ${place}`, `Set a port above 1023 with ${setting}.`);
    default:
      return failed(area, `${place} cannot be listened on (${why})`, "Check the address in server.host.");
  }
}
