/** Evaluates an expression on span after span, with breaks for other work between them. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { LongMatch } from "./long-match.ts";
import type { TraceView } from "./trace-view.ts";

/** The cost of one evaluation on a span, in units of the budget. */
const workOfSpan = 8;

interface SpanVisit {
  readonly budget: YieldBudget;
  readonly visit: (index: number) => void;
  /** How many operators are evaluated on a span; 1 by default. */
  readonly operators?: number;
}

/** Calls `visit` with each span; again with the same one if a regular expression needed a break. */
export async function forEachSpan(
  view: TraceView,
  spans: readonly number[],
  { budget, operators = 1, visit }: SpanVisit,
): Promise<void> {
  for (const index of spans) {
    const { events, links } = view.spans[index]!;
    if (budget.spend(workOfSpan * operators * (1 + events.length + links.length))) await budget.yield();
    try {
      visit(index);
    } catch (problem) {
      await visitAgain(problem, () => visit(index), view);
    }
  }
}

/** Repeats an evaluation until none of its regular expressions needs a break. */
async function visitAgain(problem: unknown, visit: () => void, view: TraceView): Promise<void> {
  const matches: LongMatch[] = [];
  let cause = problem;
  while (cause !== null) {
    if (!(cause instanceof LongMatch)) throw cause;
    view.event = null;
    view.link = null;
    await cause.finish();
    matches.push(cause);
    cause = attempt(visit);
  }
  for (const match of matches) match.forget();
}

function attempt(visit: () => void): unknown {
  try {
    visit();
    return null;
  } catch (problem) {
    return problem;
  }
}
