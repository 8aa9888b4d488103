/** Composes the Responses API: its routes, stored responses, responses in the background. */
import { randomUUID } from "node:crypto";
import type { ChatParts } from "../chat/admit-chat.ts";
import type { ContentCipher } from "../encryption/content-cipher.ts";
import type { Route } from "../http/route.ts";
import type { Logger } from "../logger.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import { BackgroundStore } from "../tenancy/background-store.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { StoredResponses } from "../tenancy/stored-responses.ts";
import { BackgroundRuns } from "./background/background-runs.ts";
import { Background } from "./background/background.ts";
import { responseRoutes } from "./routes.ts";

export interface ServedResponses {
  readonly routes: readonly Route[];
  /** Lets responses in the background go on for this time once the server shuts down. */
  drain(timeoutMs: number): void;
  close(): Promise<void>;
}

interface ResponsesOptions {
  readonly control: ControlDatabase;
  readonly retentionDays: number;
  readonly cipher: ContentCipher;
  readonly logger: Logger;
}

export function serveResponses(
  parts: ChatParts<RoutedChat>,
  { control, retentionDays, cipher, logger }: ResponsesOptions,
): ServedResponses {
  const stored = new StoredResponses(control, { retentionDays, logger, cipher });
  const store = new BackgroundStore(control, { process: randomUUID(), retentionDays, cipher });
  const runs = new BackgroundRuns(store, logger);
  return {
    routes: responseRoutes(parts, { stored, background: new Background({ stored, store, runs }) }),
    drain: (timeoutMs) => runs.drain(timeoutMs),
    async close() {
      await runs.close();
      await stored.close();
    },
  };
}
