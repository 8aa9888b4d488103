/** Begins a stream once the texts that it needs are in place. */
export async function* withTexts<T>(
  restore: () => Promise<void>,
  begin: () => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  await restore();
  yield* begin();
}
