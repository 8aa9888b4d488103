/** A worker: a process that serves the connections which its primary hands over. It ends with its primary. */
import { startApp } from "../app.ts";
import { listenToParent, sendToParent } from "../child-process/parent-channel.ts";
import { createLogger, type LeveledLogger } from "../logger.ts";
import { countBuffersAsHeap, observeProcess } from "../process-setup.ts";
import type { App } from "../running-app.ts";
import { Channel } from "./channel.ts";
import { openWorkerParts, type PrimaryChannel } from "./worker-parts.ts";

countBuffersAsHeap();
// Its primary reloads the configuration.
process.on("SIGHUP", () => {});

const channel: PrimaryChannel = new Channel({
  send: sendToParent,
  sendSocket: () => {
    throw new Error("A worker hands over no connections.");
  },
  listen: (listener) => listenToParent(listener),
});

channel.on("ping", () => {});
channel.on("start", async (order) => {
  const logger = createLogger(order.config.server.log_level, { worker: order.number });
  // First: it listens to what changes from now on.
  const parts = await openWorkerParts(channel, order);
  const observed = await observeProcess(logger);
  const { config, version } = order;
  const app = await startApp({ config, logger, version, observeRequest: observed.telemetry?.observeRequest, parts });
  serveRequests(app);
  channel.on("close", () => close(app, logger, observed));
});

function serveRequests(app: App): void {
  channel.on("reload", (config) => app.reload(config));
  channel.on("overview", () => app.overview());
  channel.on("prepareConsole", () => app.prepareConsole());
  // The primary ends its wait itself.
  channel.on("telemetryReady", () => app.whenTelemetryReady(new AbortController().signal));
  channel.on("lookForModels", () => app.lookForModels());
}

async function close(app: App, logger: LeveledLogger, observed: { close(): Promise<void> }): Promise<void> {
  await app.close();
  await observed.close();
  await logger.close();
  process.exit(0);
}
