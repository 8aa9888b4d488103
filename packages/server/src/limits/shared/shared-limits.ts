/**
 * Admits calls by limits that several processes share: from what this process took in advance or, if that does not suffice,
 * after an exchange with the ledger. While the ledger is unreachable, the process counts alone or refuses.
 * docs/adr/0041-shared-limits.md
 */
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Limits } from "../../tenant.ts";
import type { Admission } from "../admission.ts";
import { checkLimits, checkMonths, takenElsewhere, type AdmissionRequest } from "../check-limits.ts";
import type { LimitedSubject, Subject } from "../subject.ts";
import type { TrafficClass } from "../traffic-class.ts";
import { LedgerConnection, type ExchangeObserver } from "./ledger-connection.ts";
import type { LimitLedger } from "./limit-ledger.ts";
import { slotLeaseMs as defaultSlotLeaseMs } from "./slot-lease.ts";
import { SubjectLeases, type LeaseReports } from "./subject-leases.ts";

export interface SharedLimitOptions {
  readonly ledger: LimitLedger;
  /** What happens while the ledger is unreachable. */
  readonly whenUnreachable: "allow" | "refuse";
  /** How long a call waits for the ledger at most. */
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly observer?: ExchangeObserver | undefined;
  /** UNIX milliseconds; absent: the system's clock. */
  readonly now?: () => number;
  readonly slotLeaseMs?: number;
}

/** A call to be admitted. */
export interface SharedCall {
  readonly limited: readonly LimitedSubject[];
  readonly request: AdmissionRequest;
  /** Opens the admission. @param leased whether the amounts were taken from the ledger @param openedMs UNIX milliseconds */
  open(leased: boolean, openedMs: number): Admission;
}

/** An answer of the ledger that is older does not refuse a call: others may have given something back since. */
const refusingAgeMs = 50;
/** How often a call asks the ledger at most. */
const maxAttempts = 4;

export class SharedLimits implements LeaseReports {
  readonly #connection: LedgerConnection;
  readonly #whenUnreachable: "allow" | "refuse";
  readonly #slotLeaseMs: number;

  constructor(options: SharedLimitOptions) {
    this.#whenUnreachable = options.whenUnreachable;
    this.#slotLeaseMs = options.slotLeaseMs ?? defaultSlotLeaseMs;
    this.#connection = new LedgerConnection({ ...options, slotLeaseMs: this.#slotLeaseMs });
  }

  /** @throws AppError as `Limiter.admit`, or overloaded while the ledger is unreachable; or rejects with it */
  admit(call: SharedCall): Admission | Promise<Admission> {
    const { limited, request } = call;
    const shared = limited.filter(({ limits }) => isShared(limits));
    if (shared.length === 0) return admitAlone(call);
    for (const { subject } of shared) this.#attach(subject, request.trafficClass);
    if (!this.#connection.reachable) return this.#admitUnreachable(call);
    const month = checkMonths(limited, request);
    if (month !== undefined) throw month;
    const admission = this.#admitFromLeases(call, shared);
    if (admission !== undefined) return admission;
    const nowMs = performance.now();
    if (shared.every(({ subject, limits }) => subject.leases!.isKnown(limits, nowMs, refusingAgeMs))) {
      const refusal = checkLimits(limited, request);
      if (refusal !== undefined) throw refusal;
    }
    return this.#ask(call, shared);
  }

  end(leases: SubjectLeases): void {
    if (leases.end()) this.#connection.touch(leases);
    else this.#connection.activate(leases);
  }

  activate(leases: SubjectLeases): void {
    this.#connection.activate(leases);
  }

  /** Reads the current state of a subject into it, as far as the ledger is reachable. Never rejects. */
  async refresh({ subject, limits }: LimitedSubject, trafficClass: TrafficClass): Promise<void> {
    if (!isShared(limits) || !this.#connection.reachable) return;
    this.#attach(subject, trafficClass);
    subject.leases!.watch(limits);
    this.#connection.touch(subject.leases!);
    await new Promise<void>((resolve) => this.#connection.wait({ retry: resolve, fail: () => resolve() }));
  }

  /** Why the ledger cannot be used now. */
  problem(): string | undefined {
    return this.#connection.problem;
  }

  /** Gives back what is taken in advance. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  #attach(subject: Subject, trafficClass: TrafficClass): void {
    if (subject.leases !== undefined) return;
    const id = `${trafficClass}:${subject.kind}:${subject.id}`;
    // A subject that was evicted may still have leases.
    const leases = this.#connection.activeLeases(id) ?? new SubjectLeases(id, subject, this.#slotLeaseMs);
    leases.view = subject;
    subject.leases = leases;
  }

  #admitFromLeases(call: SharedCall, shared: readonly LimitedSubject[]): Admission | undefined {
    const { estimatedTokens, nowMs: unixMs } = call.request;
    const times = { nowMs: performance.now(), unixMs };
    for (const { subject, limits } of shared) {
      if (!subject.leases!.has(limits, estimatedTokens, times)) return undefined;
    }
    for (const { subject, limits } of shared) {
      const leases = subject.leases!;
      leases.take(limits, estimatedTokens);
      if (leases.isLow(limits, times.nowMs)) this.#connection.touch(leases);
      else this.#connection.activate(leases);
    }
    return call.open(true, unixMs);
  }

  #ask(call: SharedCall, shared: readonly LimitedSubject[], attempt = 1): Promise<Admission> {
    for (const { subject, limits } of shared) {
      subject.leases!.need(limits, call.request.estimatedTokens);
      this.#connection.touch(subject.leases!);
    }
    return new Promise((resolve) => {
      const settle = (admit: () => Admission | Promise<Admission>): void => resolve((async () => admit())());
      this.#connection.wait({
        retry: () => settle(() => this.#retry(call, shared, attempt)),
        fail: () => settle(() => this.#admitUnreachable(call)),
      });
    });
  }

  #retry(call: SharedCall, shared: readonly LimitedSubject[], attempt: number): Admission | Promise<Admission> {
    const request = { ...call.request, nowMs: this.#connection.now() };
    const admission = this.#admitFromLeases({ ...call, request }, shared);
    if (admission !== undefined) return admission;
    const refusal = checkLimits(call.limited, request);
    if (refusal !== undefined) throw refusal;
    // Another call has taken, while this one waited, what was there in advance.
    if (attempt < maxAttempts) return this.#ask(call, shared, attempt + 1);
    throw takenElsewhere(call.limited, request);
  }

  #admitUnreachable(call: SharedCall): Admission {
    if (this.#whenUnreachable === "allow")
      return admitAlone({ ...call, request: { ...call.request, nowMs: this.#connection.now() } });
    throw new AppError(
      "overloaded",
      "The limits of the API key cannot be checked, because the backend of the shared limits cannot be reached. Retry shortly.",
      { retryAfterMs: 1_000 },
    );
  }
}

function admitAlone({ limited, request, open }: SharedCall): Admission {
  const refusal = checkLimits(limited, request);
  if (refusal !== undefined) throw refusal;
  return open(false, request.nowMs);
}

/** Monthly budgets are shared through the control database instead. */
function isShared(limits: Limits): boolean {
  return (
    limits.requests_per_minute !== undefined ||
    limits.tokens_per_minute !== undefined ||
    limits.compute_seconds_per_minute !== undefined ||
    limits.concurrent_requests !== undefined
  );
}
