/** Lists all operations of the API. */
import { adminOperations } from "./admin-operations.ts";
import { alertGroupOperations } from "./alert-groups.ts";
import { budgetOperations } from "./budgets.ts";
import { deletionOperations } from "./deletions.ts";
import { auditOperations } from "./audit.ts";
import { modelAdminOperations } from "./admin-models.ts";
import { validateKey } from "./authentication.ts";
import { createChatCompletion } from "./chat.ts";
import { createCompletion } from "./completions.ts";
import { getConsole, getConsoleFile, getRoot } from "./console.ts";
import { governanceOperations } from "./governance.ts";
import { scimOperations } from "./scim.ts";
import { lokiOperations, lokiReady, lokiTail } from "./loki.ts";
import { countMessageTokens, createMessage } from "./messages.ts";
import { getModel, listModels } from "./models.ts";
import { listPrices } from "./prices.ts";
import { peopleOperations } from "./people-operations.ts";
import { personalKeyOperations } from "./personal-keys.ts";
import { prometheusOperations, prometheusRoots } from "./prometheus.ts";
import { listMetrics, queryMetrics } from "./observability-metrics.ts";
import { queryLogHistogram } from "./observability-log-histogram.ts";
import { queryLogs } from "./observability-logs.ts";
import { listTracePresets, queryTraces } from "./observability.ts";
import { queryConversations } from "./observability-conversations.ts";
import { listSeenProjects } from "./observability-projects.ts";
import { exportTelemetry } from "./observability-export.ts";
import { deleteSamples } from "./observability-samples.ts";
import { queryTraceHistogram } from "./observability-trace-histogram.ts";
import type { Operation } from "./operation.ts";
import { lokiPush } from "./loki-push.ts";
import { remoteWrite } from "./remote-write.ts";
import { exportLogs, exportMetrics, exportTraces } from "./otlp.ts";
import { deviceLoginOperations } from "./device-login.ts";
import { accountOperations } from "./accounts.ts";
import { passkeyOperations } from "./passkeys.ts";
import { identityProviderOperations } from "./identity-providers.ts";
import { sessionListOperations } from "./session-list.ts";
import { sdkKeyOperations } from "./sdk-keys.ts";
import { sessionOperations } from "./sessions.ts";
import {
  cancelResponse,
  compactResponse,
  countResponseTokens,
  createResponse,
  deleteResponse,
  getResponse,
  listResponseItems,
} from "./responses.ts";
import { querySpend, querySpendOfOrganizations } from "./spend.ts";
import { createSpeech, listVoices } from "./speech.ts";
import { tempoOperations } from "./tempo.ts";
import { createModeration } from "./moderations.ts";
import { createEmbeddings } from "./embeddings.ts";
import { createTranscription, createTranslation } from "./transcription.ts";
import { getDocs, getDocsScript, getHealth, getMetrics, getOpenApi, getReadiness, getServer } from "./status.ts";

export const operations: readonly Operation[] = [
  createChatCompletion,
  createCompletion,
  createMessage,
  countMessageTokens,
  createResponse,
  countResponseTokens,
  compactResponse,
  getResponse,
  deleteResponse,
  listResponseItems,
  cancelResponse,
  createSpeech,
  listVoices,
  createTranscription,
  createTranslation,
  createEmbeddings,
  createModeration,
  listModels,
  getModel,
  listPrices,
  queryLogs,
  queryLogHistogram,
  queryMetrics,
  listMetrics,
  ...prometheusRoots,
  ...Object.values(prometheusOperations).flat(),
  ...Object.values(tempoOperations),
  ...Object.values(lokiOperations).flat(),
  lokiTail,
  lokiReady,
  queryTraces,
  listTracePresets,
  queryTraceHistogram,
  queryConversations,
  querySpend,
  querySpendOfOrganizations,
  listSeenProjects,
  exportTelemetry,
  deleteSamples,
  exportTraces,
  exportLogs,
  lokiPush,
  remoteWrite,
  exportMetrics,
  validateKey,
  ...sessionOperations,
  ...sessionListOperations,
  ...identityProviderOperations,
  ...accountOperations,
  ...passkeyOperations,
  ...deviceLoginOperations,
  ...adminOperations,
  ...peopleOperations,
  ...personalKeyOperations,
  ...governanceOperations,
  ...sdkKeyOperations,
  ...scimOperations,
  ...alertGroupOperations,
  ...budgetOperations,
  ...deletionOperations,
  ...auditOperations,
  ...modelAdminOperations,
  getHealth,
  getReadiness,
  getServer,
  getMetrics,
  getOpenApi,
  getDocs,
  getDocsScript,
  getRoot,
  getConsole,
  getConsoleFile,
];
