/** The state of a rate-limited key or organization between its calls, in a bounded cache. */
import type { Limits } from "../tenant.ts";
import type { SubjectLeases } from "./shared/subject-leases.ts";
import { createBucket, type TokenBucket } from "./token-bucket.ts";

export type SubjectKind = "key" | "organization";

export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
  /** For error messages; may change. */
  name: string;
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;
  /** Compute seconds. */
  readonly compute: TokenBucket;
  inFlight: number;
  /** Calls in flight at other processes, where limits are shared. */
  inFlightElsewhere: number;
  /** Estimated tokens of the calls in flight. */
  reservedTokens: number;
  /** When all buckets are full again, so that an idle subject can be evicted. */
  replenishedAtMs: number;
  /** What this process took in advance; absent: nothing yet, or limits are not shared. */
  leases: SubjectLeases | undefined;
}

/** A key or an organization, with the limits that apply to it in this call. */
export interface LimitedSubject {
  readonly subject: Subject;
  readonly limits: Limits;
}

export interface SubjectCache {
  /** The subject with this ID; created if it is not in the cache. */
  get(id: string, name: string, nowMs: number): Subject;
  /** The subject with this ID if it is in the cache; one that is not is idle. */
  peek(id: string): Subject | undefined;
  readonly size: number;
}

/** More than one per insert, so that evictions keep up with inserts. */
const checkedPerInsert = 4;

/**
 * Holds about `maxSubjects`. Each insert checks a few others in rotation and evicts those that are idle with full buckets
 * or, when the cache is full, those without calls in flight.
 */
export function createSubjectCache(kind: SubjectKind, maxSubjects: number): SubjectCache {
  const subjects = new Map<string, Subject>();

  function evict(nowMs: number): void {
    let checked = 0;
    for (const [id, subject] of subjects) {
      if (checked++ === checkedPerInsert) return;
      const full = subjects.size >= maxSubjects;
      subjects.delete(id);
      // Moved to the end, so that the next check starts with another one.
      if (subject.inFlight > 0 || (nowMs < subject.replenishedAtMs && !full)) subjects.set(id, subject);
    }
  }

  return {
    get(id, name, nowMs) {
      let subject = subjects.get(id);
      if (subject === undefined) {
        evict(nowMs);
        subject = {
          kind,
          id,
          name,
          requests: createBucket(nowMs),
          tokens: createBucket(nowMs),
          compute: createBucket(nowMs),
          inFlight: 0,
          inFlightElsewhere: 0,
          reservedTokens: 0,
          replenishedAtMs: nowMs,
          leases: undefined,
        };
        subjects.set(id, subject);
      }
      subject.name = name;
      return subject;
    },
    peek: (id) => subjects.get(id),
    get size() {
      return subjects.size;
    },
  };
}
