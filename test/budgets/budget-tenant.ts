/** An organization of a server for one test: its administrator, its keys, and its budgets. */
import { randomUUID } from "node:crypto";
import type { RunningServer } from "../support/running-server.ts";

/** The members of a budget that tests read. */
export interface BudgetObject {
  readonly id: string;
  readonly name: string;
  readonly amount: number;
  readonly used: number;
  readonly reserved: number;
  readonly remaining: number | null;
  readonly period_starts_at: number | null;
  readonly resets_at: number | null;
  readonly values?: readonly { readonly value: string; readonly used: number; readonly remaining: number }[];
}

interface CallInit {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Key {
  readonly id: string;
  readonly secret: string;
}

type AdminServer = Pick<RunningServer, "url" | "operatorKey">;

export class BudgetTenant {
  readonly #server: AdminServer;
  readonly organizationId: string;

  private constructor(server: AdminServer, organizationId: string) {
    this.#server = server;
    this.organizationId = organizationId;
  }

  static async create(server: AdminServer, name = `tenant ${randomUUID()}`): Promise<BudgetTenant> {
    const { id } = await admin<{ id: string }>(server, "POST", "/organizations", { name });
    return new BudgetTenant(server, id);
  }

  /** The same organization through another server of the same database. */
  at(server: AdminServer): BudgetTenant {
    return new BudgetTenant(server, this.organizationId);
  }

  key(members: object = {}): Promise<Key> {
    return this.#admin("POST", "/keys", { name: `key ${randomUUID()}`, ...members });
  }

  budget(members: object): Promise<BudgetObject> {
    return this.#admin("POST", "/budgets", members);
  }

  async show({ id }: { readonly id: string }): Promise<BudgetObject> {
    return admin(this.#server, "GET", `/budgets/${id}`);
  }

  update({ id }: { readonly id: string }, changes: object): Promise<BudgetObject> {
    return admin(this.#server, "PATCH", `/budgets/${id}`, changes);
  }

  delete({ id }: { readonly id: string }): Promise<BudgetObject> {
    return admin(this.#server, "DELETE", `/budgets/${id}`);
  }

  call(key: Key, path: string, body: unknown, init: CallInit = {}) {
    const isForm = body instanceof FormData;
    return fetch(`${this.#server.url}${path}`, {
      method: "POST",
      body: isForm ? body : JSON.stringify(body),
      ...init,
      headers: {
        authorization: `Bearer ${key.secret}`,
        ...(isForm ? {} : { "content-type": "application/json" }),
        ...init.headers,
      },
    });
  }

  /** The status of a call, whose answer is read to its end. */
  async status(...call: Parameters<BudgetTenant["call"]>): Promise<number> {
    const response = await this.call(...call);
    await response.arrayBuffer();
    return response.status;
  }

  #admin<T>(method: string, path: string, body: object): Promise<T> {
    return admin(this.#server, method, path, { organization_id: this.organizationId, ...body });
  }
}

async function admin<T>({ operatorKey, url }: AdminServer, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T & { readonly error?: { readonly message: string } };
  if (!response.ok) throw new Error(answer.error?.message);
  return answer;
}
