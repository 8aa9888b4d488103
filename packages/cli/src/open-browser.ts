/** Opens an address in the browser of the person at this machine, if there is one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { CommandIo } from "./command.ts";

/** How long a program that opens browsers may take to report that it found none. */
const failureTimeoutMs = 2_000;

/** Why no browser can be opened here; undefined if one may. */
export function whyNoBrowser(env: CommandIo["env"]): "ssh" | "no display" | undefined {
  const has = (name: string): boolean => (env[name] ?? "") !== "";
  if (has("SSH_CONNECTION")) return "ssh";
  if (process.platform === "darwin" || process.platform === "win32") return undefined;
  return has("DISPLAY") || has("WAYLAND_DISPLAY") ? undefined : "no display";
}

/** @returns whether a browser was asked to open it */
export async function openBrowser(url: string, env: CommandIo["env"]): Promise<boolean> {
  const [program, ...words] = openerOf(url);
  const child = spawn(program, words, { env: { ...env }, stdio: "ignore", detached: true });
  const failed = Promise.race([
    once(child, "exit").then(([code]) => code !== 0),
    // The program may stay as long as the browser is open.
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), failureTimeoutMs).unref()),
  ]).catch(() => true);
  const isOpen = !(await failed);
  child.unref();
  return isOpen;
}

function openerOf(url: string): [string, ...string[]] {
  if (process.platform === "darwin") return ["open", url];
  // The first argument of `start` in quotes is the title of a window.
  if (process.platform === "win32") return ["cmd", "/c", "start", '""', url];
  return ["xdg-open", url];
}
