/** Checks which npm packages of local engines are installed, and explains how to add the others. */
import type { Config } from "@sounding/server";
import { failed, ok, warning, type Finding } from "./finding.ts";

export async function checkEnginePackages(config: Config | undefined): Promise<Finding[]> {
  const { listEnginePackages } = await import("@sounding/server");
  const configured = new Map(Object.entries(config?.engines ?? {}).map(([name, { type }]) => [type, name]));
  return listEnginePackages().map(({ type, name, use, isInstalled, command }) => {
    if (isInstalled) return ok(type, `${name} is installed and ${use}`);
    const advice = `To add it, run in the folder where Sounding is installed: ${command}`;
    const engine = configured.get(type);
    return engine === undefined
      ? warning(type, `${name} is not installed; it ${use}`, advice)
      : failed(type, `${name} is not installed, but the engine ${JSON.stringify(engine)} needs it`, advice);
  });
}
