/** Collects the result of one export request: its rows, and the rejected records with the reasons. */
import type { Payer } from "../../pricing/prices.ts";
import type { ReportedCosts } from "../../pricing/reported-costs.ts";
import { RowBuilder, type RowBuilderOptions } from "../rows/row-builder.ts";
import type { SealContent } from "../rows/seal-content.ts";
import type { ContentSealing, Presealed } from "./attributes.ts";
import type { CallSpans } from "./call-spans.ts";

/** Maximum reasons in a response; further ones are summed up. */
const maximumReasons = 8;

interface ExportBuilderOptions extends RowBuilderOptions {
  readonly callSpans: CallSpans;
  readonly costs: ReportedCosts;
  readonly payer: Payer;
  /** Encrypts content; undefined: it is stored as it is. */
  readonly seal: SealContent | undefined;
}

export class ExportBuilder extends RowBuilder implements ContentSealing {
  accepted = 0;
  rejected = 0;
  /** Of accepted data points. */
  exemplars = 0;
  readonly callSpans: CallSpans;
  readonly costs: ReportedCosts;
  readonly payer: Payer;
  readonly seal: SealContent | undefined;
  presealed: Presealed | undefined;
  readonly #reasons = new Map<string, number>();

  constructor({ callSpans, costs, payer, seal, ...options }: ExportBuilderOptions) {
    super(options);
    this.callSpans = callSpans;
    this.costs = costs;
    this.payer = payer;
    this.seal = seal;
  }

  /** @param reason completes "2 spans rejected: 1 …" */
  reject(reason: string, count = 1): void {
    this.rejected += count;
    const known = this.#reasons.get(reason);
    const key = known === undefined && this.#reasons.size >= maximumReasons ? "for other reasons" : reason;
    this.#reasons.set(key, (this.#reasons.get(key) ?? 0) + count);
  }

  /**
   * Why records were rejected; undefined if none was.
   * @param items what is counted, in the plural: `spans`
   */
  rejection(items: string): string | undefined {
    if (this.rejected === 0) return undefined;
    const records = this.rejected === 1 ? items.replace(/s$/, "") : items;
    const reasons = [...this.#reasons].map(([reason, count]) => `${count} ${reason}`);
    return `${this.rejected} ${records} rejected: ${reasons.join(", ")}`;
  }
}
