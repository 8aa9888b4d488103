/** The cost of one request: time of the main thread and of the telemetry store. */
import { AsyncLocalStorage } from "node:async_hooks";

/** Smaller costs are accumulated before they are charged. */
const chargedFromMs = 1;

/** Where costs are charged. */
interface CostAccount {
  charge(seconds: number): void;
}

export class RequestCost {
  readonly operation: string;
  /** Undefined for protocols without request IDs. */
  readonly requestId: string | undefined;
  /** Known once the key is checked. */
  organizationId: string | undefined;
  /** CPU time of the main thread in the measured steps. */
  mainThreadMs = 0;
  /** Time that the telemetry store spent on the request's queries. */
  storeMs = 0;
  #account: CostAccount | undefined;
  #chargedMs = 0;

  constructor(operation: string, requestId?: string) {
    this.operation = operation;
    this.requestId = requestId;
  }

  /** From now on, costs are charged as they occur. */
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

  /** Charges the rest. Later costs are still charged, such as those of a query that ends after its client disconnected. */
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

/** Runs the function, and everything that it starts, on the account of the request. */
export function runWithCost<Result>(cost: RequestCost, run: () => Result): Result {
  return storage.run(cost, run);
}

/** The request that the running code is part of. */
export function currentRequestCost(): RequestCost | undefined {
  return storage.getStore();
}
