/** Long lists of values, cut into lists that fit into a statement each: ClickHouse takes statements of 256 KiB. */

/** Characters of one statement's lists together; escaping may nearly double them. */
const maximumListCharacters = 120_000;
/** What surrounds a value. */
const quoteCharacters = 3;

/** The items in their order, in lists of bounded length. */
export function listsThatFit<Item>(items: Iterable<Item>, lengthOf: (item: Item) => number): Item[][] {
  const lists: Item[][] = [];
  let free = 0;
  for (const item of items) {
    const length = lengthOf(item) + quoteCharacters;
    if (length > free) {
      lists.push([]);
      free = maximumListCharacters;
    }
    lists.at(-1)!.push(item);
    free -= length;
  }
  return lists;
}
