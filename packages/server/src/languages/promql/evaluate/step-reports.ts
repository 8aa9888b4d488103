/**
 * The annotations of a binary operator: of all pairs of series at one step the last one tells, as in Prometheus, so
 * that a vector of odd samples does not bring a warning for each kind of pair in it.
 */
import type { Annotations } from "./annotations.ts";

type Report = (annotations: Annotations) => void;

export class StepReports {
  /** The step and the place of the pair in the vector, to be set before an operator is applied. */
  step = 0;
  order = 0;
  readonly #latest = new Map<number, { readonly order: number; readonly report: Report }>();

  add(report: Report): void {
    const known = this.#latest.get(this.step);
    if (known !== undefined && known.order > this.order) return;
    this.#latest.set(this.step, { order: this.order, report });
  }

  /** Gives what was reported to the query's annotations. */
  tell(annotations: Annotations): void {
    for (const step of [...this.#latest.keys()].sort((left, right) => left - right)) {
      this.#latest.get(step)!.report(annotations);
    }
  }
}
