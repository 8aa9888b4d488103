/** An alert as it is sent to a receiver. */
import type { Alert } from "../rule-state.ts";

/** The rule of the alerts, for receivers. */
export interface AlertOrigin {
  readonly organization: { readonly id: string; readonly name: string };
  readonly groupKey: string;
  readonly intervalMs: number;
  /** The expression. */
  readonly query: string;
  readonly nowMs: number;
  /** Called when a receiver has got an alert, so that it is remembered. */
  readonly onSent: () => void;
}

export interface Notification {
  /** Identifies the alert among all organizations and rules. */
  readonly key: string;
  readonly status: "firing" | "resolved";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAtMs: number;
  /** Of a firing alert: when a receiver that hears nothing may take it for resolved. */
  readonly endsAtMs: number;
  readonly fingerprint: string;
  readonly generatorUrl: string;
  readonly origin: AlertOrigin;
  /** UNIX milliseconds at which it was queued; it stays the same when it is sent again. */
  readonly queuedAtMs: number;
  readonly alert: Alert;
}

/** How a receiver type sends: what belongs into one request, and the request. */
export interface ReceiverProtocol {
  /** How long an alert that fires is not sent again. */
  readonly repeatMs: number;
  /** Whether a resolved alert is sent again as well, as long as it is kept. */
  readonly repeatsResolved: boolean;
  /** Of one organization's notifications, those of the next request; the first one is among them. */
  take(queued: readonly Notification[]): readonly Notification[];
  request(notifications: readonly Notification[]): ReceiverRequest;
}

export interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
