/**
 * Collects the annotations of a binary operator. At each step only the last pair of series is reported, as in Prometheus,
 * so a vector of mixed sample types does not cause a warning for each combination.
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

  /** Adds the reports to the query's annotations. */
  addTo(annotations: Annotations): void {
    for (const step of [...this.#latest.keys()].sort((left, right) => left - right)) {
      this.#latest.get(step)!.report(annotations);
    }
  }
}
