/**
 * Neumaier's variant of Kahan summation, as Prometheus sums: https://en.wikipedia.org/wiki/Kahan_summation_algorithm
 * The sum and its compensation are kept separate until the end.
 */
export class CompensatedSum {
  sum: number;
  compensation: number;

  constructor(sum = 0, compensation = 0) {
    this.sum = sum;
    this.compensation = compensation;
  }

  add(value: number): void {
    const total = this.sum + value;
    if (total === Infinity || total === -Infinity) this.compensation = 0;
    else if (Math.abs(this.sum) >= Math.abs(value)) this.compensation += this.sum - total + value;
    else this.compensation += value - total + this.sum;
    this.sum = total;
  }

  get total(): number {
    return this.sum + this.compensation;
  }
}
