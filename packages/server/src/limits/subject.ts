/** What is remembered of a key or an organization between its calls. */
import type { Limits } from "../tenant.ts";
import { createBucket, type TokenBucket } from "./token-bucket.ts";

export type SubjectKind = "key" | "organization";

export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
  /** For messages; may change. */
  name: string;
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;
  /** Seconds of work. */
  readonly compute: TokenBucket;
  inFlight: number;
  /** Estimated tokens of the calls in flight. */
  reservedTokens: number;
  /** When the buckets of a subject without calls are full again, so that it may be forgotten. */
  replenishedAtMs: number;
}

/** A key or an organization and the limits that hold for it in this call. */
export interface LimitedSubject {
  readonly subject: Subject;
  readonly limits: Limits;
}

export interface SubjectCache {
  /** The subject with this ID, made when it is not there. */
  get(id: string, name: string, nowMs: number): Subject;
  readonly size: number;
}

/** More than one for each that comes, so that the rested ones leave faster than others arrive. */
const checkedPerInsert = 4;

/**
 * At most about `maxSubjects`. Whenever one comes, a few others are looked at in turn: those that rest are
 * forgotten, and when all places are taken, those that merely have no call in flight too.
 */
export function createSubjectCache(kind: SubjectKind, maxSubjects: number): SubjectCache {
  const subjects = new Map<string, Subject>();

  function evict(nowMs: number): void {
    let looked = 0;
    for (const [id, subject] of subjects) {
      if (looked++ === checkedPerInsert) return;
      const full = subjects.size >= maxSubjects;
      subjects.delete(id);
      // To the end of the row: the next look begins with another one.
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
          reservedTokens: 0,
          replenishedAtMs: nowMs,
        };
        subjects.set(id, subject);
      }
      subject.name = name;
      return subject;
    },
    get size() {
      return subjects.size;
    },
  };
}
