/** `/admin/v1/budgets`: limits in money. */
import type { Budget, BudgetCreate, BudgetPage, BudgetUpdate } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions, CallParameters, OrUndefined } from "../request.ts";
import { readJson } from "../response.ts";

export interface BudgetListParams {
  /** Page size, 1 to 100; default 20. */
  limit?: number | undefined;
  /** `last_id` of the page before. */
  after?: string | undefined;
  /** `asc` (default): oldest first. */
  order?: "asc" | "desc" | undefined;
  /** Identifier or name of the organization. Default: the key's own, or all organizations for an operator key. */
  organization_id?: string | undefined;
  /** Only the budget with this name. */
  name?: string | undefined;
  /** Only budgets whose name or identifier contains this text. */
  search?: string | undefined;
}

/** Members of a new budget, each of which but the first two may also be undefined. */
export type BudgetCreateParams = Pick<BudgetCreate, "name" | "amount"> &
  Partial<OrUndefined<Omit<BudgetCreate, "name" | "amount">>> &
  CallParameters;

export type BudgetUpdateParams = Partial<OrUndefined<BudgetUpdate>> & CallParameters;

export interface Budgets<M extends Mode> {
  /** Lists budgets with what is used of them, in pages. */
  list(params?: BudgetListParams, options?: CallOptions): Out<M, BudgetPage>;
  /** Creates a budget. It applies to new calls at once. */
  create(params: BudgetCreateParams, options?: CallOptions): Out<M, Budget>;
  /** Returns a budget with what is used of it, by value if each value has its own. Throws NotFoundError if there is none. */
  retrieve(id: string, options?: CallOptions): Out<M, Budget>;
  /** Changes a budget; what is used of it stays. */
  update(id: string, params: BudgetUpdateParams, options?: CallOptions): Out<M, Budget>;
  /** Deletes a budget, and returns it as it was. */
  delete(id: string, options?: CallOptions): Out<M, Budget>;
}

const root = "/admin/v1/budgets";

export function createBudgets<M extends Mode>(transport: Transport<M>): Budgets<M> {
  const json = { accept: "application/json" } as const;
  const pathOf = (id: string): string => `${root}/${encodeURIComponent(id)}`;
  const toBudget = (answer: Parameters<typeof readJson>[0]): Budget => readJson(answer) as Budget;
  return {
    list: (params = {}, options) =>
      transport.send(
        { ...json, method: "GET", path: root + queryOf(params), options },
        (answer) => readJson(answer) as BudgetPage,
      ),
    create: (parameters, options) =>
      transport.send({ ...json, method: "POST", path: root, parameters, options }, toBudget),
    retrieve: (id, options) => transport.send({ ...json, method: "GET", path: pathOf(id), options }, toBudget),
    update: (id, parameters, options) =>
      transport.send({ ...json, method: "PATCH", path: pathOf(id), parameters, options }, toBudget),
    delete: (id, options) => transport.send({ ...json, method: "DELETE", path: pathOf(id), options }, toBudget),
  };
}

function queryOf(params: BudgetListParams): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== undefined) given.set(name, String(value));
  const text = given.toString();
  return text === "" ? "" : `?${text}`;
}
