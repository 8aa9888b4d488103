/** Reading the vendors' lists of models, page by page. */
import { AppError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

const mostPages = 50;

interface Page {
  readonly items: unknown;
  /** Where the next page is; undefined after the last. */
  readonly next: string | undefined;
}

/** All objects of all pages. `readPage` reads the page at an address. */
export async function readPages(first: string, readPage: (url: string) => Promise<Page>): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let url: string | undefined = first;
  for (let page = 0; url !== undefined && page < mostPages; page++) {
    const { items, next } = await readPage(url);
    if (!Array.isArray(items))
      throw new AppError("upstream_failed", "The vendor's list of models does not contain a list.");
    all.push(...items.filter(isObject));
    url = next;
  }
  return all;
}

/** A page's member as text; undefined when it is empty or something else. */
export function textMember(page: unknown, name: string): string | undefined {
  const value = isObject(page) ? page[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function member(page: unknown, name: string): unknown {
  return isObject(page) ? page[name] : undefined;
}
