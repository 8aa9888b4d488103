/**
 * Sends alerts as signed requests: the payload of Alertmanager's webhooks, version 4, signed as in Standard Webhooks.
 * https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHash, createHmac } from "node:crypto";
import type { Notification, ReceiverProtocol } from "./notification.ts";

export interface WebhookOptions {
  /** The name of the receiver. */
  readonly name: string;
  readonly url: string;
  /** `whsec_` and the bytes in Base64. */
  readonly secret: string;
  readonly repeatIntervalMs: number;
  readonly externalUrl: string;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

/** Alerts of one request; the others are in the next one. */
const maximumBatch = 256;

export function webhookProtocol(options: WebhookOptions): ReceiverProtocol {
  const key = Buffer.from(options.secret.replace(/^whsec_/, ""), "base64");
  return {
    repeatMs: options.repeatIntervalMs,
    repeatsResolved: false,
    take(queued) {
      const batch: Notification[] = [];
      let group: string | undefined;
      for (const notification of queued) {
        group ??= groupKeyOf(notification);
        if (groupKeyOf(notification) === group) batch.push(notification);
        if (batch.length === maximumBatch) break;
      }
      return batch;
    },
    request(notifications) {
      const body = JSON.stringify(payloadOf(notifications, options));
      const id = `msg_${digest(notifications, options.name)}`;
      const timestamp = Math.floor(options.now() / 1000);
      const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
      return {
        url: options.url,
        headers: {
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": `v1,${signature}`,
        },
        body,
      };
    },
  };
}

/** The same for each attempt to send the same notifications, so that receivers can recognize a repetition. */
function digest(notifications: readonly Notification[], receiver: string): string {
  const hash = createHash("sha256").update(receiver);
  for (const { key, queuedAtMs, status } of notifications) hash.update(`\n${key} ${status} ${queuedAtMs}`);
  return hash.digest("hex").slice(0, 32);
}

function groupLabelsOf({ labels, origin }: Notification): Record<string, string> {
  return { alertname: labels["alertname"] ?? "", organization: origin.organization.name };
}

function groupKeyOf(notification: Notification): string {
  return JSON.stringify([notification.origin.groupKey, groupLabelsOf(notification)]);
}

function payloadOf(notifications: readonly Notification[], { externalUrl, name }: WebhookOptions): unknown {
  const [first] = notifications;
  return {
    version: "4",
    groupKey: groupKeyOf(first!),
    truncatedAlerts: 0,
    status: notifications.some(({ status }) => status === "firing") ? "firing" : "resolved",
    receiver: name,
    groupLabels: groupLabelsOf(first!),
    commonLabels: commonOf(notifications.map(({ labels }) => labels)),
    commonAnnotations: commonOf(notifications.map(({ annotations }) => annotations)),
    externalURL: externalUrl,
    alerts: notifications.map(({ annotations, endsAtMs, fingerprint, generatorUrl, labels, startsAtMs, status }) => ({
      status,
      labels,
      annotations,
      startsAt: new Date(startsAtMs).toISOString(),
      // Go's zero time: a firing alert has no end.
      endsAt: status === "firing" ? "0001-01-01T00:00:00Z" : new Date(endsAtMs).toISOString(),
      generatorURL: generatorUrl,
      fingerprint,
    })),
  };
}

function commonOf(sets: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const [first, ...others] = sets;
  return Object.fromEntries(
    Object.entries(first!).filter(([name, value]) => others.every((other) => other[name] === value)),
  );
}
