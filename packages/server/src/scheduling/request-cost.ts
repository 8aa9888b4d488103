/** What one request costs: time of the main thread and of the telemetry store. Found from anywhere below the request by `currentWork`. */
import { AsyncLocalStorage } from "node:async_hooks";

/** Costs below this are collected before they are charged. */
const chargedFromMs = 1;

/** Where costs are charged. */
interface CostAccount {
  charge(seconds: number): void;
}

export class RequestCost {
  readonly operation: string;
  /** undefined where requests have none. */
  readonly requestId: string | undefined;
  /** Known once the key is checked. */
  organizationId: string | undefined;
  /** Time for which the request held the main thread, as far as its steps are measured. */
  mainThreadMs = 0;
  /** Time that the telemetry store spent on the request's queries. */
  storeMs = 0;
  #account: CostAccount | undefined;
  #chargedMs = 0;

  constructor(operation: string, requestId?: string) {
    this.operation = operation;
    this.requestId = requestId;
  }

  /** From now on, costs are charged while they arise. */
  chargeTo(account: CostAccount): void {
    this.#account = account;
  }

  addMainThread(ms: number): void {
    this.mainThreadMs += ms;
    this.#chargeFrom(chargedFromMs);
  }

  addStore(ms: number): void {
    this.storeMs += ms;
    this.#chargeFrom(chargedFromMs);
  }

  /** Charges what is left. Later costs are still charged, for example those of a query that ends after its caller left. */
  end(): void {
    this.#chargeFrom(0);
  }

  #chargeFrom(leastMs: number): void {
    if (this.#account === undefined) return;
    const dueMs = this.mainThreadMs + this.storeMs - this.#chargedMs;
    if (dueMs <= leastMs) return;
    this.#chargedMs += dueMs;
    this.#account.charge(dueMs / 1000);
  }
}

const storage = new AsyncLocalStorage<RequestCost>();

/** Runs the function, and everything that it starts, as part of the work. */
export function runWithCost<Result>(cost: RequestCost, run: () => Result): Result {
  return storage.run(cost, run);
}

/** The request that the running code is part of. */
export function currentRequestCost(): RequestCost | undefined {
  return storage.getStore();
}
