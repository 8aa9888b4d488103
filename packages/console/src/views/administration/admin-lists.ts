/** Lists of the admin API: pages with a search, and the names of what they refer to. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Organization, Project } from "../../api/admin-types.ts";
import { requestJson, type RequestOptions } from "../../api/request.ts";
import { useQuery, type Query } from "../../api/use-query.ts";

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}

export interface PagedList<Item> {
  readonly query: Query<Page<Item>>;
  /** Loads one page more. */
  readonly more: () => void;
}

const pageSize = 50;
const largestPage = 100;
/** How many objects are read to show their names. */
const maximumNames = 1000;

type Filters = NonNullable<RequestOptions["query"]>;

/** @param path such as `keys` */
export function usePagedList<Item>(path: string, filters: Filters): PagedList<Item> {
  const pages = useSignal(1);
  const key = JSON.stringify(filters);
  useEffect(() => void (pages.value = 1), [key]);
  const query = useQuery(
    (signal) => readPages<Item>(path, { ...filters, order: "desc", limit: pageSize }, pages.value, signal),
    [path, key],
  );
  return { query, more: () => void (pages.value += 1) };
}

async function readPages<Item>(path: string, query: Filters, pages: number, signal: AbortSignal): Promise<Page<Item>> {
  const data: Item[] = [];
  let last: Page<Item> | undefined;
  for (let page = 0; page < pages && last?.has_more !== false; page++) {
    last = await requestJson<Page<Item>>(`admin/v1/${path}`, {
      query: { ...query, after: last?.last_id ?? undefined },
      signal,
    });
    data.push(...last.data);
  }
  return { data, has_more: last?.has_more ?? false, last_id: last?.last_id ?? null };
}

export interface Names {
  readonly organizations: ReadonlyMap<string, Organization>;
  readonly projects: ReadonlyMap<string, Project>;
}

/** Organizations and projects by ID, archived ones included. */
export function useNames(): Query<Names> {
  return useQuery(async (signal) => {
    const read = async <Item extends { readonly id: string }>(path: string): Promise<ReadonlyMap<string, Item>> => {
      const filters = { include_archived: "true", limit: largestPage, order: "desc" };
      const { data } = await readPages<Item>(path, filters, maximumNames / largestPage, signal);
      return new Map(data.map((item) => [item.id, item]));
    };
    const [organizations, projects] = await Promise.all([
      read<Organization>("organizations"),
      read<Project>("projects"),
    ]);
    return { organizations, projects };
  });
}
