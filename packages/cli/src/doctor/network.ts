/** Checks whether something listens at an address and what it responds, with a short timeout. */
import { connect, createServer } from "node:net";

const limitMs = 3_000;

export function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const settle = (can: boolean): void => {
      socket.destroy();
      resolve(can);
    };
    socket.once("connect", () => settle(true));
    socket.once("timeout", () => settle(false));
    socket.once("error", () => settle(false));
  });
}

/**
 * Tries to listen briefly.
 * @returns the system's error code if that fails, such as `EADDRINUSE`
 */
export function whyNotListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** @returns status and JSON of a GET; undefined if nothing responds in time */
export async function readHttp(url: string): Promise<{ status: number; json: unknown } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(limitMs), redirect: "manual" });
    const text = await response.text();
    return { status: response.status, json: parsed(text) };
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
