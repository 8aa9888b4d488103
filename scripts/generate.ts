/**
 * Writes the files that are generated from the code: `npm run generate`. With `--check`, writes nothing and fails if
 * one of them is out of date.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { renderCliDocument } from "../packages/cli/src/cli-document.ts";
import { ChatCompletion, ChatCompletionChunk } from "../packages/server/src/api/chat-answer.ts";
import { EmbeddingList, EmbeddingRequest } from "../packages/server/src/api/embeddings.ts";
import { ChatContentPart, ChatMessage, ChatRequest } from "../packages/server/src/api/chat-request.ts";
import { LimitChanges, Organization, Project } from "../packages/server/src/api/admin.ts";
import { Key, KeyWithSecret } from "../packages/server/src/api/keys.ts";
import { EngineObject, RoutedModelObject } from "../packages/server/src/api/admin-models.ts";
import { operations } from "../packages/server/src/api/index.ts";
import { ModelList, ModelObject } from "../packages/server/src/api/models.ts";
import { PriceList } from "../packages/server/src/api/prices.ts";
import { MetricList, MetricsAnswer, MetricsQuery } from "../packages/server/src/api/observability-metrics.ts";
import { LogsAnswer, LogsQuery } from "../packages/server/src/api/observability-logs.ts";
import { Conversations, ConversationsQuery } from "../packages/server/src/api/observability-conversations.ts";
import { LogHistogram, LogHistogramQuery } from "../packages/server/src/api/observability-log-histogram.ts";
import { Spend, SpendQuery } from "../packages/server/src/api/spend.ts";
import { TraceHistogram, TraceHistogramQuery } from "../packages/server/src/api/observability-trace-histogram.ts";
import { TracesAnswer, TracesQuery } from "../packages/server/src/api/observability.ts";
import { TranscriptionRequest } from "../packages/server/src/api/transcription-request.ts";
import {
  TranscriptionStreamEvent,
  TranscriptionText,
  TranscriptionVerbose,
} from "../packages/server/src/api/transcription.ts";
import { SpeechRequest } from "../packages/server/src/api/speech-request.ts";
import { SpeechWithBoundaries, VoiceList, WordBoundary } from "../packages/server/src/api/speech.ts";
import { Budget, BudgetCreate, BudgetPage, BudgetUpdate } from "../packages/server/src/api/budgets.ts";
import { AuditEvent, AuditVerification } from "../packages/server/src/api/audit.ts";
import { Deletion } from "../packages/server/src/api/deletions.ts";
import { Membership, Person, Role } from "../packages/server/src/api/people.ts";
import { Usage } from "../packages/server/src/api/usage.ts";
import { toOpenApi } from "../packages/server/src/api/openapi.ts";
import { configPagesFolder, renderConfigPages } from "../packages/server/src/config/config-document.ts";
import { renderClientTypes } from "./generate-client-types.ts";
import { renderAudioFormats } from "./render-audio-formats.ts";
import { renderClientReference } from "./render-client-reference.ts";
import { renderErrorsDocument } from "./render-errors.ts";
import { renderInstrumentations } from "./render-instrumentations.ts";
import { renderLimitsDocument } from "./render-limits.ts";
import { renderMetricsDocument } from "./render-metrics.ts";
import { renderNotice } from "./render-notice.ts";
import { renderPermissionsDocument } from "./render-permissions.ts";
import { renderStringScanner } from "./render-string-scanner.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(repository, "packages/server/package.json"), "utf8")) as {
  version: string;
};

interface Generated {
  readonly path: string;
  render(): string | Promise<string>;
  /** Whether the formatter runs on the file, as for all Markdown and TypeScript files of the repository. */
  readonly format: boolean;
}

const files: Generated[] = [
  {
    path: "docs/openapi.json",
    render: () => `${JSON.stringify(toOpenApi(operations, version), null, 2)}\n`,
    format: false,
  },
  { path: "docs/reference/metrics.md", render: renderMetricsDocument, format: true },
  { path: "docs/observability/instrumentations.md", render: renderInstrumentations, format: true },
  { path: "docs/reference/audio-formats.md", render: renderAudioFormats, format: true },
  { path: "docs/reference/permissions.md", render: renderPermissionsDocument, format: true },
  { path: "docs/reference/errors.md", render: renderErrorsDocument, format: true },
  ...[...renderConfigPages()].map(([page, text]) => ({
    path: `${configPagesFolder}/${page}`,
    render: () => text,
    format: true,
  })),
  { path: "docs/reference/limits.md", render: renderLimitsDocument, format: true },
  { path: "packages/server/src/http/string-scanner-module.ts", render: renderStringScanner, format: true },
  { path: "NOTICE", render: renderNotice, format: false },
  { path: "docs/cli/README.md", render: renderCliDocument, format: true },
  {
    path: "packages/client/src/generated/types.ts",
    render: () =>
      renderClientTypes({
        ChatContentPart: ChatContentPart.json,
        ChatMessage: ChatMessage.json,
        ChatRequest: ChatRequest.json,
        ChatCompletion: ChatCompletion.json,
        ChatCompletionChunk: ChatCompletionChunk.json,
        EmbeddingRequest: EmbeddingRequest.json,
        EmbeddingList: EmbeddingList.json,
        Model: ModelObject.json,
        ModelList: ModelList.json,
        PriceList: PriceList.json,
        TranscriptionRequest: TranscriptionRequest.json,
        TranscriptionText: TranscriptionText.json,
        TranscriptionVerbose: TranscriptionVerbose.json,
        TranscriptionStreamEvent: TranscriptionStreamEvent.json,
        SpeechRequest: SpeechRequest.json,
        SpeechWithBoundaries: SpeechWithBoundaries.json,
        TTSWordBoundaryEvent: WordBoundary.json,
        VoiceList: VoiceList.json,
        LogsQuery: LogsQuery.json,
        LogsAnswer: LogsAnswer.json,
        MetricsQuery: MetricsQuery.json,
        MetricsAnswer: MetricsAnswer.json,
        MetricList: MetricList.json,
        TracesQuery: TracesQuery.json,
        TracesAnswer: TracesAnswer.json,
        LogHistogramQuery: LogHistogramQuery.json,
        LogHistogram: LogHistogram.json,
        TraceHistogramQuery: TraceHistogramQuery.json,
        TraceHistogram: TraceHistogram.json,
        ConversationsQuery: ConversationsQuery.json,
        Conversations: Conversations.json,
        SpendQuery: SpendQuery.json,
        Spend: Spend.json,
        Budget: Budget.json,
        BudgetCreate: BudgetCreate.json,
        BudgetUpdate: BudgetUpdate.json,
        BudgetPage: BudgetPage.json,
      }),
    format: false,
  },
  // Read from the client's sources, so the types come first.
  { path: "docs/client/reference.md", render: renderClientReference, format: true },
  {
    path: "packages/console/src/api/admin-types.ts",
    render: () =>
      renderClientTypes({
        Organization: Organization.json,
        Project: Project.json,
        LimitChanges: LimitChanges.json,
        Usage: Usage.json,
        RoutedModel: RoutedModelObject.json,
        EngineStatus: EngineObject.json,
      }),
    format: true,
  },
  {
    path: "packages/console/src/api/key-types.ts",
    render: () => renderClientTypes({ Key: Key.json, KeyWithSecret: KeyWithSecret.json }),
    format: true,
  },
  {
    path: "packages/console/src/api/people-types.ts",
    render: () => renderClientTypes({ Person: Person.json, Membership: Membership.json, Role: Role.json }),
    format: true,
  },
  {
    path: "packages/console/src/api/budget-types.ts",
    render: () => renderClientTypes({ Budget: Budget.json }),
    format: true,
  },
  {
    path: "packages/console/src/api/deletion-types.ts",
    render: () => renderClientTypes({ Deletion: Deletion.json }),
    format: true,
  },
  {
    path: "packages/console/src/api/audit-types.ts",
    render: () => renderClientTypes({ AuditEvent: AuditEvent.json, AuditVerification: AuditVerification.json }),
    format: true,
  },
];

function formatted(path: string, text: string): string {
  const oxfmt = join(repository, "node_modules/.bin/oxfmt");
  const run = spawnSync(oxfmt, ["--stdin-filepath", path], { input: text, encoding: "utf8", cwd: repository });
  if (run.status !== 0) throw new Error(`oxfmt could not format ${path}: ${run.stderr}`);
  return run.stdout;
}

function current(path: string): string | undefined {
  try {
    return readFileSync(join(repository, path), "utf8");
  } catch {
    return undefined;
  }
}

const check = process.argv.includes("--check");
const stale: string[] = [];
for (const { path, render, format } of files) {
  const rendered = await render();
  const text = format ? formatted(path, rendered) : rendered;
  if (text === current(path)) continue;
  if (check) stale.push(path);
  else {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
}
// Pages of removed sections or types are deleted.
const written = new Set(files.map(({ path }) => path));
for (const path of globSync(`${configPagesFolder}/**/*.md`, { cwd: repository })) {
  if (written.has(path)) continue;
  if (check) stale.push(path);
  else rmSync(join(repository, path));
}
if (stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.join(", ")}. Run "npm run generate" and commit the result.\n`);
  process.exitCode = 1;
}
