/** The findings of `sounding doctor`: one fact each, and how to fix it if it is a problem. */

export interface Finding {
  /** What was looked at, such as `telemetry store`. */
  readonly area: string;
  /** `warning`: something is missing that not everybody needs. `failed`: the server does not start, or not work as configured. */
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
  /** What to do. */
  readonly advice?: string | undefined;
}

export const ok = (area: string, message: string): Finding => ({ area, status: "ok", message });

export const warning = (area: string, message: string, advice?: string): Finding => ({
  area,
  status: "warning",
  message,
  advice,
});

export const failed = (area: string, message: string, advice?: string): Finding => ({
  area,
  status: "failed",
  message,
  advice,
});
