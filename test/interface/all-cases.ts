/** All cases of docs/reference/interface.md, as a list and as the table that both clients run. */
import type { ModeCases } from "../../packages/client/test/mode-case.ts";
import { adminCases } from "./admin-cases.ts";
import { chatCases } from "./chat-cases.ts";
import { completionCases } from "./completion-cases.ts";
import { clientCases } from "./client-cases.ts";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";
import { logsCases } from "./logs-cases.ts";
import { lokiCases } from "./loki-cases.ts";
import { embeddingCases } from "./embedding-cases.ts";
import { messagesCases } from "./messages-cases.ts";
import { responsesCases } from "./responses-cases.ts";
import { metricsCases } from "./metrics-cases.ts";
import { projectCases } from "./project-cases.ts";
import { speechCases } from "./speech-cases.ts";
import { tempoCases } from "./tempo-cases.ts";
import { tenantCases, tracesCases } from "./traces-cases.ts";
import { transcriptionCases } from "./transcription-cases.ts";
import { translationCases } from "./translation-cases.ts";
import { wireCases } from "./wire-cases.ts";

export const allCases: readonly InterfaceCase[] = [
  ...clientCases,
  ...wireCases,
  ...logsCases,
  ...lokiCases,
  ...metricsCases,
  ...tracesCases,
  ...tenantCases,
  ...tempoCases,
  ...projectCases,
  ...adminCases,
  ...chatCases,
  ...completionCases,
  ...embeddingCases,
  ...messagesCases,
  ...responsesCases,
  ...speechCases,
  ...transcriptionCases,
  ...translationCases,
];

export const modeCases: ModeCases = Object.fromEntries(
  allCases.map(({ name, run }) => [name, (tools) => run({ ...tools, facts: tools.facts as Facts })]),
);
