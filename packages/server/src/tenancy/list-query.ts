/** Lists of the admin API: their query parameters and their pages, in order of creation. */
import { sql, type Expression, type SqlBool } from "kysely";
import { identifierPattern, type Page } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** The identifier that ended the previous page. */
  readonly after?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Only objects whose name or identifier contains this text. */
  readonly search?: string | undefined;
}

const defaultLimit = 20;
const maximumLimit = inputLimit({
  area: "Administration",
  bounds: "Objects in one page of a list (`limit`)",
  value: 100,
  error: "invalid_request",
});
const maximumSearch = inputLimit({
  area: "Administration",
  bounds: "Text to search a list for (`search`)",
  value: 128,
  unit: "characters",
  error: "invalid_request",
});
const identifier = new RegExp(identifierPattern);

/** @throws AppError invalid_request */
export function pageRequest(query: URLSearchParams): PageRequest {
  const limit = query.get("limit") ?? String(defaultLimit);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maximumLimit) {
    throw invalid("limit", limit, `an integer from 1 to ${maximumLimit}`);
  }
  const order = query.get("order") ?? "asc";
  if (order !== "asc" && order !== "desc") throw invalid("order", order, '"asc" or "desc"');
  const search = query.get("search") ?? "";
  if (search.length > maximumSearch) throw invalid("search", search, `at most ${maximumSearch} characters`);
  return {
    limit: Number(limit),
    after: identifierParameter(query, "after"),
    order,
    search: search === "" ? undefined : search,
  };
}

/** Whether one of the columns contains the text, in either case. */
export function contains(columns: readonly string[], text: string): Expression<SqlBool> {
  const pattern = `%${text.replaceAll(/[%_!]/g, "!$&")}%`;
  const matches = columns.map((column) => sql<SqlBool>`lower(${sql.ref(column)}) like lower(${pattern}) escape '!'`);
  return sql<SqlBool>`(${sql.join(matches, sql` or `)})`;
}

/** @throws AppError invalid_request */
export function identifierParameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) ?? undefined;
  if (value !== undefined && !identifier.test(value))
    throw invalid(name, value, "an identifier from an earlier response");
  return value;
}

/** @throws AppError invalid_request */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? "false";
  if (value !== "true" && value !== "false") throw invalid(name, value, '"true" or "false"');
  return value === "true";
}

/** Builds a page. The query asks for one row more than `limit`, which shows whether more follow. */
export function toPage<Row, Item extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
): Page<Item> {
  const data = rows.slice(0, limit).map(toItem);
  return { object: "list", data, has_more: rows.length > limit, last_id: data.at(-1)?.id ?? null };
}

function invalid(param: string, value: string, expected: string): AppError {
  return new AppError("invalid_request", `${param} is ${JSON.stringify(value.slice(0, 100))}; expected ${expected}.`, {
    param,
  });
}
