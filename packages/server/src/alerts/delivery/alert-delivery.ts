/**
 * Passes alerts to the receivers of their organization. What a receiver got is remembered with the alert, so that it gets each
 * change once, also after a restart.
 */
import type { AlertSettings, ReceiverSettings } from "../../config/alerts.ts";
import type { Logger } from "../../logger.ts";
import { matcherOf } from "../alert-plan.ts";
import type { Alert } from "../rule-state.ts";
import { alertmanagerProtocol } from "./alertmanager.ts";
import type { AlertOrigin, Notification } from "./notification.ts";
import { Receiver } from "./receiver.ts";
import { webhookProtocol } from "./webhook.ts";

export type DeliverySettings = Pick<AlertSettings, "receivers" | "resend_delay_ms">;

export interface DeliveryParts {
  readonly settings: DeliverySettings;
  readonly externalUrl: string;
  readonly logger: Logger;
  /** UNIX milliseconds. */
  readonly now: () => number;
  readonly onOutcome: (receiver: string, outcome: "sent" | "failed" | "dropped", alerts: number) => void;
}

interface Route {
  readonly name: string;
  /** The settings of the receiver. */
  readonly identity: string;
  readonly receiver: Receiver;
  readonly serves: (organization: string) => boolean;
}

export class AlertDelivery {
  readonly #parts: DeliveryParts;
  #settings: DeliverySettings;
  #routes: readonly Route[];

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#routes = this.#open(parts.settings);
  }

  /** Alerts that were not sent yet, by receiver. */
  queued(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#routes.map(({ name, receiver }) => [name, receiver.queued]));
  }

  /** Queues the alerts of a rule for every receiver that should get them now. */
  offer(alerts: ReadonlyMap<string, Alert>, origin: AlertOrigin): void {
    for (const { name, receiver, serves } of this.#routes) {
      if (!serves(origin.organization.name)) continue;
      for (const [fingerprint, alert] of alerts) {
        if (alert.state === "pending" || !this.#isDue(alert, name, receiver, origin.nowMs)) continue;
        receiver.add(this.#notificationOf(alert, fingerprint, origin));
      }
    }
  }

  /** Replaces the receivers that changed; what is queued there is queued again by the next evaluation. */
  async reload(settings: DeliverySettings): Promise<void> {
    await this.#replace(settings, this.#routes);
  }

  /** Drops what is queued. */
  async reset(): Promise<void> {
    await this.#replace(this.#settings, []);
  }

  async #replace(settings: DeliverySettings, reusable: readonly Route[]): Promise<void> {
    const before = this.#routes;
    this.#settings = settings;
    this.#routes = this.#open(settings, reusable);
    const ended = before.filter((route) => !this.#routes.includes(route));
    await Promise.all(ended.map(({ receiver }) => receiver.close()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#routes.map(({ receiver }) => receiver.close()));
  }

  #isDue({ sent, state }: Alert, name: string, { protocol }: Receiver, nowMs: number): boolean {
    const status = state === "firing" ? "firing" : "resolved";
    const last = sent[name];
    if (last?.status !== status) return true;
    if (status === "resolved" && !protocol.repeatsResolved) return false;
    return nowMs - last.atMs >= protocol.repeatMs;
  }

  #notificationOf(alert: Alert, fingerprint: string, origin: AlertOrigin): Notification {
    const isFiring = alert.state === "firing";
    const { nowMs, organization, query } = origin;
    const validForMs = 4 * Math.max(origin.intervalMs, this.#settings.resend_delay_ms);
    return {
      key: `${organization.id} ${origin.groupKey} ${fingerprint}`,
      status: isFiring ? "firing" : "resolved",
      // Two organizations may have the same alert; only the server says whose it is.
      labels: { ...alert.labels, organization: organization.name },
      annotations: alert.annotations,
      startsAtMs: alert.firedAtMs ?? alert.activeAtMs,
      endsAtMs: isFiring ? nowMs + validForMs : (alert.resolvedAtMs ?? nowMs),
      fingerprint,
      generatorUrl: `${this.#parts.externalUrl}/console/${query === "" ? "" : `metrics?query=${encodeURIComponent(query.toWellFormed())}`}`,
      origin,
      queuedAtMs: nowMs,
      alert,
    };
  }

  #open(settings: DeliverySettings, reusable: readonly Route[] = []): readonly Route[] {
    return Object.entries(settings.receivers).map(([name, receiver]) => {
      const identity = JSON.stringify([name, receiver, settings.resend_delay_ms]);
      const open = reusable.find((route) => route.identity === identity);
      if (open !== undefined) return open;
      return {
        name,
        identity,
        receiver: this.#receiverOf(name, receiver, settings),
        serves: matcherOf(receiver.organizations),
      };
    });
  }

  #receiverOf(
    name: string,
    settings: ReceiverSettings,
    { resend_delay_ms: resendDelayMs }: DeliverySettings,
  ): Receiver {
    const { externalUrl, logger, now, onOutcome } = this.#parts;
    const protocol =
      settings.type === "alertmanager"
        ? alertmanagerProtocol(settings.url, resendDelayMs)
        : webhookProtocol({
            name,
            url: settings.url,
            secret: settings.secret,
            repeatIntervalMs: settings.repeat_interval_ms,
            externalUrl,
            now,
          });
    return new Receiver({
      name,
      protocol,
      bearerToken: settings.bearer_token,
      timeoutMs: settings.timeout_ms,
      retryForMs: settings.retry_for_ms,
      maxQueued: settings.max_queued,
      logger,
      now,
      onOutcome: (outcome, alerts) => onOutcome(name, outcome, alerts),
    });
  }
}
