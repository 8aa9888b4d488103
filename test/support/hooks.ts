/**
 * What the tests of a file or a suite share. `before` and `beforeEach` of `node:test` are not used directly, which the
 * linter checks: a hook that fails half way would leave open what it has started, and its process would never end.
 */
import { after, afterEach, before, beforeEach } from "node:test";

/** Starts what tests share; what `stack` was given is closed in reverse order, also if a later step of it fails. */
export type Preparation = (stack: AsyncDisposableStack) => unknown;

/** Runs once, before the tests of the file or suite. The stack is closed after them. */
export function beforeTests(prepare: Preparation): void {
  const stack = new AsyncDisposableStack();
  before(async () => void (await prepare(stack)));
  after(() => stack.disposeAsync());
}

/** Runs before each test of the file or suite. The stack is closed after that test. */
export function beforeEachTest(prepare: Preparation): void {
  let stack = new AsyncDisposableStack();
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    await prepare(stack);
  });
  afterEach(() => stack.disposeAsync());
}

/** Starts several things at the same time. If one fails to start, the stack still closes the others. */
export async function useAll<Started extends AsyncDisposable[]>(
  stack: AsyncDisposableStack,
  starting: { [Index in keyof Started]: Promise<Started[Index]> },
): Promise<Started> {
  for (const each of starting as Promise<AsyncDisposable>[]) {
    stack.defer(async () => {
      const started = await each.catch(() => undefined);
      await started?.[Symbol.asyncDispose]();
    });
  }
  return (await Promise.all(starting)) as Started;
}
