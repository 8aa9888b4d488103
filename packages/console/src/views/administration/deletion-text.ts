/** What a deletion selects, how many rows it takes, and how far it is, as text. */
import type { Deletion } from "../../api/deletion-types.ts";
import { formatTime } from "../../design/format.ts";

export function whatOf({ conversation_sha256, end, end_user_sha256, kind, project_name, start }: Deletion): string {
  const parts = [
    // The project is named below.
    kind === "telemetry" || kind === "project" ? undefined : kind,
    conversation_sha256 === null ? undefined : "one conversation",
    end_user_sha256 === null ? undefined : "one end user",
    project_name === null ? undefined : `project ${project_name}`,
    start === null && end === null ? undefined : "a time range",
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? "all telemetry" : parts.join(", ");
}

export function rowsText({
  distribution_points: distributions = 0,
  logs = 0,
  points = 0,
  spans = 0,
}: Deletion["rows"]): string {
  const count = (number: number, one: string): string =>
    `${number.toLocaleString("en")} ${number === 1 ? one : `${one}s`}`;
  return `${count(spans, "span")}, ${count(logs, "log record")} and ${count(points + distributions, "metric point")}`;
}

/** @param seconds when the step was done; null: not yet */
export function stateText({ error, status }: Deletion, seconds: number | null): string {
  return seconds === null ? (error ?? status) : formatTime(seconds * 1000);
}
