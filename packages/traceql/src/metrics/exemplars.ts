/** Chooses exemplars: a bounded number, spread over time, at most one of a trace. */
import type { NamedValue } from "../spans/spanset.ts";
import { fieldReader, type Field } from "../spans/read-field.ts";
import type { TraceView } from "../spans/trace-view.ts";
import { printField } from "../spans/print-element.ts";
import { intrinsicOf } from "./intrinsic-field.ts";
import { intervalOf, type Intervals } from "./intervals.ts";
import { labelValue, type Exemplar } from "./series.ts";

/** Exemplars of one slot of time. */
const mostPerSlot = 2;

export class ExemplarChooser {
  readonly #intervals: Intervals;
  readonly #fields: readonly { readonly name: string; readonly read: ReturnType<typeof fieldReader> }[];
  #slots: Intervals;
  #mostPerSlot = mostPerSlot;
  #counts: Uint32Array;
  #left: number;
  #lastTrace = "";

  /** `fields` are those that the query reads: an exemplar's labels. */
  constructor(limit: number, intervals: Intervals, fields: readonly Field[]) {
    this.#intervals = intervals;
    this.#left = limit;
    this.#slots = divided(intervals, Math.max(1, Math.floor(limit / mostPerSlot)));
    this.#counts = new Uint32Array(this.#slots.count);
    const shown = [intrinsicOf("trace:id"), ...fields.filter((field) => printField(field) !== "trace:id")];
    this.#fields = shown.map((field) => ({ name: printField(field), read: fieldReader(field) }));
  }

  /** Spreads the exemplars over so few parts of the time that each can be read. */
  divide(parts: number): readonly { readonly part: Intervals; readonly exemplars: number }[] {
    if (parts === 0) return [];
    this.#slots = divided(this.#intervals, parts);
    this.#counts = new Uint32Array(parts);
    this.#mostPerSlot = Math.ceil(this.#left / parts);
    const { startUnixNano, stepNano } = this.#slots;
    return Array.from({ length: parts }, (_, index) => ({
      part: { startUnixNano: startUnixNano + BigInt(index) * stepNano, stepNano, count: 1 },
      exemplars: this.#mostPerSlot,
    }));
  }

  /** How many more it takes. */
  get left(): number {
    return this.#left;
  }

  /** The span as an exemplar, if there is room for one at its time. */
  offer(view: TraceView, index: number, value: number): Exemplar | null {
    if (this.#left === 0 || view.traceId === this.#lastTrace) return null;
    const unixNano = view.spans[index]!.startUnixNano;
    const slot = intervalOf(this.#slots, unixNano);
    if (slot === -1 || this.#counts[slot]! >= this.#mostPerSlot) return null;
    this.#counts[slot]!++;
    this.#left--;
    this.#lastTrace = view.traceId;
    return { labels: this.#labels(view, index), value, unixNano };
  }

  #labels(view: TraceView, index: number): readonly NamedValue[] {
    return this.#fields.flatMap(({ name, read }) => {
      const value = read(view, index);
      return value.type === "nil" ? [] : [{ name, value: labelValue(value) }];
    });
  }
}

/** The same time in equal parts, the last of which may reach further. */
function divided({ count, startUnixNano, stepNano }: Intervals, parts: number): Intervals {
  return { startUnixNano, stepNano: (BigInt(count) * stepNano) / BigInt(parts) + 1n, count: parts };
}
