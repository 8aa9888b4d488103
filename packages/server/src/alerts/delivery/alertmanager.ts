/**
 * Sends alerts to Alertmanager.
 * https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
import type { ReceiverProtocol } from "./notification.ts";

/** As Prometheus. */
const maximumBatch = 256;

export function alertmanagerProtocol(url: string, resendDelayMs: number): ReceiverProtocol {
  const endpoint = `${url.replace(/\/+$/, "")}/api/v2/alerts`;
  return {
    repeatMs: resendDelayMs,
    repeatsResolved: true,
    take: (queued) => queued.slice(0, maximumBatch),
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
