/**
 * Telemetry of the calls that this server answers, in their caller's organization and project. It goes straight into the
 * store, beside OTLP. Nothing here can fail a call or hold one up: records wait in a bounded queue, a full queue drops,
 * and what the store does not take is dropped too; both are counted.
 * docs/adr/0021-telemetry-of-own-calls.md
 */
import { setImmediate } from "node:timers/promises";
import type { Logger } from "../../logger.ts";
import type { Store } from "../../store/store.ts";
import type { ProjectSettings, Scope } from "../../tenant.ts";
import type { FinishedCall } from "../../finished-call.ts";
import { toSpeechRecords, toTranscriptionRecords } from "./audio-records.ts";
import { contentLength, withoutContent } from "./call-content.ts";
import type { CallRecords, ProviderOf } from "./call-records.ts";
import { toChatRecords } from "./chat-records.ts";
import { SpanRowWriter, type CallGroup, type ServerIdentity } from "./span-row-writer.ts";

export type DropReason = "queue_full" | "store" | "fault";

export interface CallTelemetryParts {
  readonly store: Pick<Store, "append" | "isKnown">;
  readonly settingsOf: (scope: Scope) => ProjectSettings | Promise<ProjectSettings>;
  readonly identity: ServerIdentity;
  readonly providerOf: ProviderOf;
  readonly logger: Logger;
  /** Told of calls whose telemetry is lost. */
  onDrop(calls: number, reason: DropReason): void;
}

export interface CallTelemetry {
  /** Queues the records of a call. Costs no more than appending to a list; never throws. */
  observe(call: FinishedCall): void;
  /** Whether prompts and answers of the scope's project are recorded. Never throws or rejects: no, where it cannot be told. */
  keepsContent(scope: Scope): boolean | Promise<boolean>;
  /** Writes what waits, if the store takes it. */
  close(): Promise<void>;
}

/** Calls that may wait. */
const maximumCalls = 8192;
/** Characters of prompts, answers and other content that may wait; calls beyond it are recorded without them. */
const maximumCharacters = 33_554_432;
/** How long records are gathered: an insert costs about as much whether it has one row or a thousand. */
const gatherMs = { few: 200, many: 1000 };
/** So many calls at a time are many; nobody looks for each of them then. */
const manyCalls = 64;
/** As many calls go into one insert, and as many are encoded without a pause for others. */
const insertCalls = 2048;
const sliceCalls = 128;

/** For a server that keeps no telemetry. */
export const noCallTelemetry: CallTelemetry = {
  observe: () => {},
  keepsContent: () => false,
  close: async () => {},
};

/** A call that is over. */
interface Waiting {
  readonly scope: Scope;
  /** Of its content. */
  readonly characters: number;
  toRecords(recordContent: boolean): CallRecords;
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
      const calls = waiting.slice(0, insertCalls);
      waiting = waiting.slice(insertCalls);
      for (const each of calls) characters -= each.characters;
      const kept = await write(calls, parts);
      if (kept || !closing || waiting.length === 0) continue;
      // The end of the server waits for no store that does not answer.
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
      const keeps = fits && keepsContent(call.scope) !== false;
      const kept = keeps ? call : withoutContent(call);
      if (keeps) characters += length;
      waiting.push({
        scope: call.scope,
        characters: keeps ? length : 0,
        toRecords: (recordContent) => toRecords(kept, recordContent && keeps, parts.providerOf),
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

function toRecords(call: FinishedCall, keepContent: boolean, providerOf: ProviderOf): CallRecords {
  switch (call.kind) {
    case "chat":
      return toChatRecords(call, keepContent, providerOf);
    case "speech":
      return toSpeechRecords(call, keepContent, providerOf);
    case "transcription":
      return toTranscriptionRecords(call, keepContent, providerOf);
  }
}

/** Never rejects; whether the store took everything. */
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
  const { store, identity, logger } = parts;
  let reason: DropReason = "fault";
  try {
    const rows = new SpanRowWriter({ organizationId, identity, store });
    for (const each of Map.groupBy(calls, ({ scope }) => scope.projectName).values()) {
      const settings = await parts.settingsOf(each[0]!.scope);
      for (let from = 0; from < each.length; from += sliceCalls) {
        if (from > 0) await setImmediate();
        rows.add(toGroup(each.slice(from, from + sliceCalls), settings));
      }
    }
    const batches = rows.finish();
    reason = "store";
    await Promise.all(batches.map((batch) => store.append(batch)));
    return true;
  } catch (error) {
    parts.onDrop(calls.length, reason);
    logger.debug({ error, calls: calls.length }, "telemetry of calls could not be kept");
    return false;
  }
}

/** Of one project. */
function toGroup(calls: readonly Waiting[], settings: ProjectSettings): CallGroup {
  const records = calls.map((call) => call.toRecords(settings.record_content));
  return {
    project: calls[0]!.scope.projectName,
    retentionDays: settings.retention_days,
    spans: records.flatMap(({ spans }) => spans),
    logs: records.flatMap(({ log }) => (log === undefined ? [] : [log])),
  };
}
