/** Divides long lists of values to fit into statements, which ClickHouse limits to 256 KiB. */

/** Characters of all lists of one statement; escaping can nearly double them. */
const maximumListCharacters = 120_000;
/** Quotes and comma around a value. */
const quoteCharacters = 3;

/** The items in order, in lists of bounded length. */
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
