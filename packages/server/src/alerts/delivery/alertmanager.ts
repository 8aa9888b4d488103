/**
 * Sends alerts to Alertmanager.
 * https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
import type { Notification, ReceiverProtocol } from "./notification.ts";

/** As Prometheus. */
const maximumBatch = 256;

export function alertmanagerProtocol(url: string, resendDelayMs: number): ReceiverProtocol {
  const endpoint = `${url.replace(/\/+$/, "")}/api/v2/alerts`;
  return {
    repeatMs: resendDelayMs,
    repeatsResolved: true,
    take: (queued) => [...firstOf(queued)],
    request: (notifications) => ({
      url: endpoint,
      headers: {},
      body: JSON.stringify(
        notifications.map(({ annotations, endsAtMs, generatorUrl, labels, startsAtMs }) => ({
          labels,
          annotations,
          startsAt: new Date(startsAtMs).toISOString(),
          endsAt: new Date(endsAtMs).toISOString(),
          generatorURL: generatorUrl,
        })),
      ),
    }),
  };
}

function* firstOf(queued: Iterable<Notification>): Generator<Notification> {
  let count = 0;
  for (const notification of queued) {
    if (count === maximumBatch) return;
    count += 1;
    yield notification;
  }
}
