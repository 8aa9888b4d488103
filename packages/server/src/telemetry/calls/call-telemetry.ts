/**
 * Records the calls that the server answers, in their caller's organization and project, directly in the store. Recording
 * never fails or delays a call: records wait in a bounded queue. Records that do not fit into the queue, or that the store
 * does not accept, are dropped and counted.
 * docs/adr/0020-telemetry-ingest-and-journal.md
 */
import { setImmediate } from "node:timers/promises";
import type { TelemetryCipher } from "../../encryption/telemetry-cipher.ts";
import type { Logger } from "../../logger.ts";
import type { Store } from "../../store/store.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { TextRedactor } from "../redaction/text-redactor.ts";
import { sealFor } from "../rows/seal-content.ts";
import type { ProjectSettings, Scope } from "../../tenant.ts";
import type { FinishedCall } from "../../finished-call.ts";
import { toSpeechRecords, toTranscriptionRecords } from "./audio-records.ts";
import { contentLength, withoutContent } from "./call-content.ts";
import { isSampled } from "./sampled-content.ts";
import type { CallRecords, ProviderOf } from "./call-records.ts";
import { toChatRecords } from "./chat-records.ts";
import { toEmbeddingRecords } from "./embedding-records.ts";
import { redactRecords } from "./redact-records.ts";
import { sealRecords } from "./seal-records.ts";
import { SpanRowWriter, type CallGroup, type ServerIdentity } from "./span-row-writer.ts";

export type DropReason = "queue_full" | "store" | "fault";

export interface CallTelemetryParts {
  readonly store: Pick<Store, "append" | "isKnown">;
  readonly settingsOf: (scope: Scope) => ProjectSettings | Promise<ProjectSettings>;
  /** What redacts the telemetry of a project; undefined: nothing. */
  readonly redactorOf?: (scope: Scope, settings: ProjectSettings) => TextRedactor | undefined;
  /** Encrypts content; absent: it is stored as it is. */
  readonly cipher?: Pick<TelemetryCipher, "seal">;
  readonly identity: ServerIdentity;
  /** Of costs. */
  readonly currency: string;
  readonly providerOf: ProviderOf;
  readonly logger: Logger;
  /** Called when the records of calls are dropped. */
  onDrop(calls: number, reason: DropReason): void;
}

export interface CallTelemetry {
  /** Queues the records of a call. Costs no more than appending to a list; never throws. */
  observe(call: FinishedCall): void;
  /** Whether the scope's project records prompts and answers. Never throws or rejects: no, if that cannot be determined. */
  keepsContent(scope: Scope): boolean | Promise<boolean>;
  /** Writes the queued records if the store accepts them. */
  close(): Promise<void>;
}

/** Maximum queued calls. */
const maximumCalls = 8192;
/** Maximum queued characters of prompts, answers and other content; further calls are recorded without content. */
const maximumCharacters = 33_554_432;
/** How long records are collected, because an insert of one row costs about as much as one of a thousand. */
const gatherMs = { few: 200, many: 1000 };
/** The number of queued calls from which the longer interval applies. */
const manyCalls = 64;
/** Characters of content in one insert. All other calls that were gathered go into it. */
const insertCharacters = 8_388_608;
/** Calls encoded before yielding. */
const sliceCalls = 128;

/** For a server with telemetry disabled. */
export const noCallTelemetry: CallTelemetry = {
  observe: () => {},
  keepsContent: () => false,
  close: async () => {},
};

/** A queued call. */
interface Waiting {
  readonly scope: Scope;
  /** Characters of its content. */
  readonly characters: number;
  toRecords(settings: ProjectSettings): CallRecords;
}

export function createCallTelemetry(parts: CallTelemetryParts): CallTelemetry {
  let waiting: Waiting[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closing = false;
  let wereMany = false;

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      const calls = waiting.slice(0, insertLength(waiting));
      waiting = waiting.slice(calls.length);
      const kept = await write(calls, parts);
      for (const each of calls) characters -= each.characters;
      if (kept || !closing || waiting.length === 0) continue;
      // Shutdown does not wait for a store that does not respond.
      parts.onDrop(waiting.length, "store");
      waiting = [];
    }
  };
  const start = (): void => {
    timer = undefined;
    wereMany = waiting.length >= manyCalls;
    writing ??= flush().finally(() => {
      writing = undefined;
      if (waiting.length > 0) schedule();
    });
  };
  const schedule = (): void => {
    timer ??= setTimeout(start, wereMany ? gatherMs.many : gatherMs.few);
  };

  const keepsContent: CallTelemetry["keepsContent"] = (scope) => {
    try {
      const settings = parts.settingsOf(scope);
      if (!(settings instanceof Promise)) return settings.record_content;
      return settings.then(
        (known) => known.record_content,
        () => false,
      );
    } catch {
      return false;
    }
  };
  return {
    observe(call) {
      if (waiting.length >= maximumCalls) {
        parts.onDrop(1, "queue_full");
        return;
      }
      const length = contentLength(call);
      const fits = length > 0 && characters + length <= maximumCharacters;
      const keeps = fits && !call.isPrivate && keepsContent(call.scope) !== false;
      const kept = keeps ? call : withoutContent(call);
      if (keeps) characters += length;
      waiting.push({
        scope: call.scope,
        characters: keeps ? length : 0,
        toRecords(settings) {
          const records = keeps && settings.record_content && isSampled(call, settings.record_content_percent);
          return toRecords(kept, records, parts.providerOf);
        },
      });
      schedule();
    },
    keepsContent,
    async close() {
      closing = true;
      clearTimeout(timer);
      await writing;
      await flush();
    },
  };
}

/** How many of the calls go into one insert, at least one. */
function insertLength(calls: readonly Waiting[]): number {
  let characters = 0;
  const end = calls.findIndex((call) => {
    characters += call.characters;
    return characters > insertCharacters;
  });
  return end === -1 ? calls.length : Math.max(1, end);
}

function toRecords(call: FinishedCall, keepContent: boolean, providerOf: ProviderOf): CallRecords {
  switch (call.kind) {
    case "chat":
      return toChatRecords(call, keepContent, providerOf);
    case "speech":
      return toSpeechRecords(call, keepContent, providerOf);
    case "transcription":
      return toTranscriptionRecords(call, keepContent, providerOf);
    case "embeddings":
      return toEmbeddingRecords(call, keepContent, providerOf);
  }
}

/** Never rejects; resolves with whether the store accepted everything. */
async function write(calls: readonly Waiting[], parts: CallTelemetryParts): Promise<boolean> {
  const byOrganization = Map.groupBy(calls, ({ scope }) => scope.organizationId);
  const kept = await Promise.all(
    [...byOrganization].map(([organizationId, each]) => writeOrganization(organizationId, each, parts)),
  );
  return kept.every(Boolean);
}

async function writeOrganization(
  organizationId: string,
  calls: readonly Waiting[],
  parts: CallTelemetryParts,
): Promise<boolean> {
  const { currency, store, identity, logger } = parts;
  let reason: DropReason = "fault";
  try {
    const rows = new SpanRowWriter({ organizationId, identity, currency, store });
    for (const each of Map.groupBy(calls, ({ scope }) => scope.projectName).values()) {
      const settings = await parts.settingsOf(each[0]!.scope);
      for (let from = 0; from < each.length; from += sliceCalls) {
        if (from > 0) await setImmediate();
        rows.add(await toGroup(each.slice(from, from + sliceCalls), settings, parts));
      }
    }
    const batches = rows.finish();
    reason = "store";
    await Promise.all(batches.map((batch) => store.append(batch, { durability: "written" })));
    return true;
  } catch (error) {
    parts.onDrop(calls.length, reason);
    logger.debug({ error, calls: calls.length }, "telemetry of calls could not be stored");
    return false;
  }
}

/** The records of one project. */
async function toGroup(
  calls: readonly Waiting[],
  settings: ProjectSettings,
  { redactorOf, cipher }: CallTelemetryParts,
): Promise<CallGroup> {
  const { scope } = calls[0]!;
  let records = calls.map((call) => call.toRecords(settings));
  const yielder = new CooperativeYield();
  const redactor = redactorOf?.(scope, settings);
  if (redactor !== undefined) {
    const redacted: CallRecords[] = [];
    for (const each of records) redacted.push(await redactRecords(each, redactor, yielder));
    records = redacted;
  }
  const sealContent = sealFor(cipher?.seal, scope.organizationId);
  if (sealContent !== undefined) {
    const sealed: CallRecords[] = [];
    for (const each of records) sealed.push(await sealRecords(each, sealContent, yielder));
    records = sealed;
  }
  return {
    project: scope.projectName,
    retentionDays: settings.retention_days,
    spans: records.flatMap(({ spans }) => spans),
    logs: records.flatMap(({ log }) => (log === undefined ? [] : [log])),
  };
}
