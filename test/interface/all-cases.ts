/** Every case of the interface. */
import { chatCases } from "./chat-cases.ts";
import { clientCases } from "./client-cases.ts";
import type { InterfaceCase } from "./interface-case.ts";
import { speechCases } from "./speech-cases.ts";
import { transcriptionCases } from "./transcription-cases.ts";
import { telemetryCases } from "./telemetry-cases.ts";

export const allCases: readonly InterfaceCase[] = [
  ...clientCases,
  ...telemetryCases,
  ...chatCases,
  ...speechCases,
  ...transcriptionCases,
];
