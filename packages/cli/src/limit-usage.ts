/** Reads and writes the limits of a key or an organization with their current usage. */
import type { AdminApi } from "./administration.ts";
import type { CommandIo } from "./command.ts";
import { writeLine } from "./output.ts";
import { writeTable } from "./terminal/table.ts";
import { formatTime, type TimeOptions } from "./terminal/times.ts";

/** As the admin API describes it: null is not set, or not known. */
export interface LimitUsage {
  readonly limit: string;
  readonly applies_to: string;
  readonly value: number | null;
  readonly used: number | null;
  readonly remaining: number | null;
  readonly resets_at: number | null;
}

/** @param path of the key or the organization, relative to `/admin/v1` */
export async function readUsage(api: AdminApi, path: string): Promise<readonly LimitUsage[]> {
  return (await api.call<{ readonly data: readonly LimitUsage[] }>("GET", `${path}/usage`)).data;
}

/** A table of the limits that are set and of the usage that is counted without a limit. */
export async function writeUsage(io: CommandIo, usage: readonly LimitUsage[], times: TimeOptions): Promise<void> {
  const shown = usage.filter(({ value, used }) => value !== null || used !== null);
  const rows = shown.map(({ limit, applies_to, value, used, remaining, resets_at }) => [
    limit.replaceAll("_", " "),
    applies_to,
    value === null ? "none" : String(value),
    used === null ? "unknown" : String(used),
    remaining === null ? "-" : String(remaining),
    resets_at === null ? "-" : formatTime(resets_at * 1000, times),
  ]);
  const right = { align: "right", whole: true } as const;
  await writeLine(io.stdout, "");
  await writeTable(
    io,
    [
      { title: "limit", whole: true },
      { title: "applies to", whole: true, optional: 1 },
      { title: "value", ...right },
      { title: "used", ...right },
      { title: "remaining", ...right },
      { title: "reset", whole: true, optional: 2 },
    ],
    rows,
  );
  // A server always counts concurrent requests.
  if (usage.some(({ limit, used }) => limit === "concurrent_requests" && used !== null)) return;
  await writeLine(
    io.stderr,
    "Only the tokens of the month are known without a running server. To see all usage, name a server with --url.",
  );
}
