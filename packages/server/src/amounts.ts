/** Amounts by name, such as bytes by organization, and their sum. A name without an amount is forgotten. */

export class Amounts {
  readonly #byName = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** How many names have an amount. */
  get size(): number {
    return this.#byName.size;
  }

  /** 0 for a name without one. */
  of(name: string): number {
    return this.#byName.get(name) ?? 0;
  }

  add(name: string, amount: number): void {
    this.#total += amount;
    const sum = this.of(name) + amount;
    if (sum === 0) this.#byName.delete(name);
    else this.#byName.set(name, sum);
  }

  /** @param amount at most what the name has */
  remove(name: string, amount: number): void {
    this.add(name, -amount);
  }
}
