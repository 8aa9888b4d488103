/** Checks that the addresses of ClickHouse are URLs, each listed once, and that settings of its storage have what they need. */
import { isObject } from "../json-object.ts";
import { formatPath, formatValue, type SettingPath } from "./problem.ts";

export function checkClickhouse(clickhouse: unknown, report: (path: SettingPath, message: string) => void): void {
  if (!isObject(clickhouse)) return;
  const { url } = clickhouse;
  const path = ["telemetry", "clickhouse", "url"];
  const seen = new Map<string, string>();
  for (const address of Array.isArray(url) ? (url as unknown[]) : [url]) {
    // The schema reports what is no text.
    if (typeof address !== "string") continue;
    const parsed = URL.parse(address);
    if (parsed === null) {
      report(path, `${formatPath(path)} has ${formatValue(address)}, which is not a URL; correct its host or port.`);
      continue;
    }
    const normal = parsed.href.replace(/\/+$/, "");
    const first = seen.get(normal);
    if (first !== undefined) {
      report(
        path,
        `${formatPath(path)} has the same address twice: ${formatValue(first)} and ${formatValue(address)}; remove one.`,
      );
    }
    seen.set(normal, address);
  }
  const needs = (name: string, needed: string, reason: string): void => {
    if (clickhouse[name] === undefined || clickhouse[needed] !== undefined) return;
    const [setting, missing] = [name, needed].map((each) => formatPath(["telemetry", "clickhouse", each]));
    report(["telemetry", "clickhouse", name], `${setting} is set, but ${missing} is not; ${reason}`);
  };
  needs("storage_policy", "url", "the embedded store has no storage policies. Set the address, or remove the setting.");
  needs("cold_after_days", "storage_policy", "name the policy that has the volume for old rows.");
}
