/** `GET /observability/spend` and `GET /admin/v1/spend`: what calls cost. */
import type { Spend, SpendQuery } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import type { CallOptions } from "../request.ts";
import { readJson } from "../response.ts";

/** The query's parameters, each of which may also be undefined. `by` may be a list. */
export type SpendParams = {
  [Name in keyof Omit<SpendQuery, "by">]: SpendQuery[Name] | undefined;
} & { by?: string | readonly string[] | null | undefined };

export interface SpendSums<M extends Mode> {
  /** Adds up what the organization's calls cost, by model, user, day, …; all parameters are optional. */
  query(params?: SpendParams, options?: CallOptions): Out<M, Spend>;
  /** The same for operators: of all organizations, or of `organization_id`. */
  queryOrganizations(params?: SpendParams, options?: CallOptions): Out<M, Spend>;
}

export function createSpend<M extends Mode>(transport: Transport<M>): SpendSums<M> {
  const get = { method: "GET", accept: "application/json" } as const;
  const send = (path: string, params: SpendParams, options?: CallOptions): Out<M, Spend> =>
    transport.send({ ...get, path: `${path}${queryOf(params)}`, options }, (answer) => readJson(answer) as Spend);
  return {
    query: (params = {}, options) => send("/observability/spend", params, options),
    queryOrganizations: (params = {}, options) => send("/admin/v1/spend", params, options),
  };
}

function queryOf({ by, tags, ...others }: SpendParams): string {
  const given = new URLSearchParams();
  if (by != null) given.set("by", typeof by === "string" ? by : by.join(","));
  if (tags != null) given.set("tags", JSON.stringify(tags));
  for (const [name, value] of Object.entries(others)) if (value != null) given.set(name, String(value));
  const text = given.toString();
  return text === "" ? "" : `?${text}`;
}
