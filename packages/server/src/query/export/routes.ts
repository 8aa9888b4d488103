/** Serves exports of telemetry as OTLP, page by page. */
import { exportTelemetry, nextCursorHeader, type ExportedSignal } from "../../api/observability-export.ts";
import { AppError } from "../../errors.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { nowUnixNano, requestedRange } from "../time-window.ts";
import { decodeExportCursor, encodeExportCursor, invalidCursor, type ExportCursor } from "./export-cursor.ts";
import { exportLogs } from "./export-logs.ts";
import { exportMetrics } from "./export-metrics.ts";
import type { ExportPage, PageRequest } from "./export-page.ts";
import { exportTraces } from "./export-traces.ts";

const defaultWindow = "24h";
const defaultLimit = 1000;

const exporters: Readonly<Record<ExportedSignal, (page: PageRequest) => Promise<ExportPage | undefined>>> = {
  traces: exportTraces,
  logs: exportLogs,
  metrics: exportMetrics,
};

export function exportRoutes(store: Pick<Store, "open" | "state">): Route[] {
  return [
    route(exportTelemetry, async ({ body, scope, signal, memory }) => {
      const { signal: exported } = body;
      const project = projectOf(scope, body) ?? scope.projectName;
      const cursor = body.cursor == null ? undefined : continuation(body.cursor, { signal: exported, project });
      const range = cursor?.range ?? requestedRange(body, { defaultWindow, nowUnixNano: nowUnixNano() });
      const page = await exporters[exported]({
        reader: openReader(store, { scope, memory }),
        project,
        range,
        after: cursor?.position,
        limit: body.limit ?? defaultLimit,
        signal,
      });
      if (page === undefined) throw invalidCursor(body.cursor ?? "");
      const { next, requests } = page;
      const headers: Record<string, string> =
        next === undefined
          ? {}
          : { [nextCursorHeader]: encodeExportCursor({ signal: exported, project, range, position: next }) };
      return { kind: "text", text: requests.map(toLine).join(""), type: "application/x-ndjson", headers };
    }),
  ];
}

function toLine(request: object): string {
  return `${JSON.stringify(request)}\n`;
}

/** @throws AppError invalid_request if the cursor is of another export */
function continuation(text: string, { project, signal }: Pick<ExportCursor, "project" | "signal">): ExportCursor {
  const cursor = decodeExportCursor(text);
  if (cursor.signal === signal && cursor.project === project) return cursor;
  throw new AppError(
    "invalid_request",
    `cursor continues an export of ${cursor.signal} of the project ${JSON.stringify(cursor.project)}; signal is ${signal} and the project is ${JSON.stringify(project)}. Send the same values with each page.`,
    { param: "cursor" },
  );
}
