/** Reads from the metrics of all processes how much telemetry the server has received. https://prometheus.io/docs/instrumenting/exposition_formats/ */

export interface IngestedRows {
  readonly spans: number;
  readonly log_records: number;
  readonly points: number;
}

const kinds: Readonly<Record<string, keyof IngestedRows>> = {
  spans: "spans",
  logs: "log_records",
  points: "points",
  distribution_points: "points",
};

/** @param text the response of `GET /metrics` */
export function parseIngestedRows(text: string): IngestedRows {
  const rows = { spans: 0, log_records: 0, points: 0 };
  for (const line of text.split("\n")) {
    if (!line.startsWith("sounding_telemetry_rows_total{") || !line.includes('outcome="written"')) continue;
    const table = /table="(?<table>[^"]*)"/.exec(line)?.groups?.["table"] ?? "";
    const kind = kinds[table];
    if (kind !== undefined) rows[kind] += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return rows;
}
