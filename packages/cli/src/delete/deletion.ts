/** Deletions as the admin API returns them, and waiting for one. */
import { setTimeout as delay } from "node:timers/promises";
import { type AdminApi, withAdminApi } from "../administration.ts";
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { findConnection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeLine } from "../output.ts";
import { formatCount } from "../terminal/numbers.ts";

export interface Deletion {
  /** Null for a dry run. */
  readonly id: string | null;
  readonly kind: string;
  readonly organization_id: string;
  readonly project_name: string | null;
  readonly status: "dry_run" | "pending" | "running" | "failed" | "done";
  readonly rows: Readonly<Record<string, number>>;
  readonly error: string | null;
  readonly created_at: number;
  readonly hidden_at: number | null;
  readonly erased_at: number | null;
}

interface ServerValues {
  readonly url?: string | undefined;
  readonly "key-file"?: string | undefined;
  readonly profile?: string | undefined;
}

/** Only a running server has the telemetry store. */
export async function withServer<Result>(
  values: ServerValues,
  io: CommandIo,
  work: (api: AdminApi) => Promise<Result>,
): Promise<Result> {
  const { url } = await findConnection(values, io);
  if (url === undefined) {
    throw new CliError(
      "deletions need a running server: name it with --url, SOUNDING_BASE_URL or `sounding login`",
      exitCodes.unreachable,
    );
  }
  return await withAdminApi(values, io, work);
}

export function deletionOf(api: AdminApi, id: string): Promise<Deletion> {
  return api.call<Deletion>("GET", `/deletions/${encodeURIComponent(id)}`);
}

export function describeRows(rows: Deletion["rows"]): string {
  const { spans = 0, logs = 0, points = 0, distribution_points: distributions = 0 } = rows;
  return `${formatCount(spans)} spans, ${formatCount(logs)} log entries and ${formatCount(points + distributions)} metric points`;
}

const intervalMs = 1000;

/** The deletion; with `wait`, once it is done. @throws CliError if an attempt fails, although the server tries again */
export async function untilDone(
  api: AdminApi,
  begun: Deletion,
  { wait }: { readonly wait?: boolean | undefined },
  io: CommandIo,
): Promise<Deletion> {
  if (wait !== true) return begun;
  let deletion = begun;
  let shown = "";
  while (deletion.status !== "done") {
    if (deletion.status === "failed") {
      if (io.progress) await write(io.stderr, "\n");
      throw new CliError(
        `an attempt failed, and the server tries again: ${deletion.error}; \`sounding delete show ${deletion.id}\` shows the progress`,
        exitCodes.failed,
      );
    }
    const step = deletion.hidden_at === null ? deletion.status : "gone from queries, erasing files";
    if (io.progress && step !== shown) await writeLine(io.stderr, `${deletion.id}: ${step}`);
    shown = step;
    await delay(intervalMs, undefined, { signal: io.signal });
    deletion = await deletionOf(api, deletion.id!);
  }
  return deletion;
}
