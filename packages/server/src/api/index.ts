/** All operations: the product's table of contents. */
import { createChatCompletion } from "./chat.ts";
import { getModel, listModels } from "./models.ts";
import type { Operation } from "./operation.ts";
import { getDocs, getHealth, getMetrics, getOpenApi, getReadiness } from "./status.ts";

export const operations: readonly Operation[] = [
  createChatCompletion,
  listModels,
  getModel,
  getHealth,
  getReadiness,
  getMetrics,
  getOpenApi,
  getDocs,
];
