/** Checks identity providers for what no schema expresses: what they are for, and that their connections are encrypted. */
import { Value } from "typebox/value";
import type { SettingPath } from "./problem.ts";
import { isLoopback, signIn } from "./sign-in.ts";

/** @param settings the resolved section, possibly invalid */
export function checkSignIn(settings: unknown, report: (path: SettingPath, message: string) => void): void {
  if (!Value.Check(signIn, settings)) return;
  for (const [name, provider] of Object.entries(settings.providers)) {
    const path = ["sign_in", "providers", name];
    if (provider.client_id === undefined && provider.audiences.length === 0)
      report(path, "has neither client_id nor audiences; set client_id for people, audiences for tokens, or both");
    if (provider.client_id === undefined && provider.client_secret !== undefined)
      report([...path, "client_secret"], "is set without client_id; set both");
    const { hostname, protocol } = new URL(provider.issuer);
    if (protocol === "http:" && !provider.allow_http && !isLoopback(hostname))
      report(
        [...path, "issuer"],
        `is ${JSON.stringify(provider.issuer)}, which is not encrypted; use https, or set allow_http if you trust the network`,
      );
  }
}
