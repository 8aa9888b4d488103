/** A stream that can begin only after asynchronous work, which begins with the first read. */
export async function* later<T>(open: () => Promise<AsyncIterable<T>>): AsyncGenerator<T, void, undefined> {
  yield* await open();
}
