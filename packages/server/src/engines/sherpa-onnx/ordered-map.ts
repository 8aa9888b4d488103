/** Maps a stream's items concurrently and yields the results in order, each as soon as possible. */

/**
 * @param most items mapped concurrently; no further item is read meanwhile
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const items = source[Symbol.asyncIterator]();
  const running: Promise<R>[] = [];
  let reading: Promise<IteratorResult<T, unknown>> | undefined;
  let ended = false;
  try {
    while (!ended || running.length > 0) {
      if (!ended && reading === undefined && running.length < most) reading = items.next();
      const [oldest] = running;
      const over = oldest?.then(() => "done" as const);
      const read = reading?.then((next) => next);
      const first = await Promise.race([over, read].filter((each) => each !== undefined));
      if (first === "done") {
        void running.shift();
        yield await oldest!;
      } else if (first.done === true) {
        ended = true;
        reading = undefined;
      } else {
        reading = undefined;
        const begun = work(first.value);
        // Its failure is reported when its result is due.
        begun.catch(() => {});
        running.push(begun);
      }
    }
  } finally {
    // Not waited for: a source that is being read may take its time to notice.
    void items.return?.().catch(() => {});
  }
}
