/** How a match shares the thread with other requests: the caller's budget decides when, and ends what takes too long. */
export interface Turns {
  /** Counts steps of an automaton; true when other work should run before the next ones. */
  spend(steps: number): boolean;
  /** Lets other work run. Throws once the caller's time is up or its request was cancelled. */
  breathe(): Promise<void>;
}

/** For matches whose text is known to be short. */
export const withoutTurns: Turns = { spend: () => false, breathe: () => Promise.resolve() };

/** A match that can pause. */
export interface Resumable<Result> {
  /** Continues; false when other work should run first. */
  advance(turns: Turns): boolean;
  readonly result: Result;
}

/** The result at once if the match needs no pause, as nearly all do; else a promise of it. */
export function drive<Result>(match: Resumable<Result>, turns: Turns): Result | Promise<Result> {
  return match.advance(turns) ? match.result : finish(match, turns);
}

async function finish<Result>(match: Resumable<Result>, turns: Turns): Promise<Result> {
  do await turns.breathe();
  while (!match.advance(turns));
  return match.result;
}
