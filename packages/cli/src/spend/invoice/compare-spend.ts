/** Compares what a vendor invoiced with what Sounding counted. */
import type { Spend } from "@sounding/client";
import { CliError } from "../../cli-error.ts";
import { costDigits } from "./invoice-formats.ts";
import { modelIdentity } from "./model-identity.ts";
import { measures, type InvoiceSums, type Measure } from "./read-invoice.ts";

export interface Comparison {
  /** Null: of all days. */
  readonly day: string | null;
  /** Null: of all models. */
  readonly model: string | null;
  readonly measure: Measure;
  /** Tokens, or a cost as a decimal. */
  readonly counted: string;
  readonly invoiced: string;
  /** Of the invoiced amount; null if that is 0. */
  readonly difference_percent: number | null;
  readonly exceeds: boolean;
  /** Calls that Sounding counted without a cost. */
  readonly unpriced_calls: number;
}

export interface CompareOptions {
  readonly isByDay: boolean;
  readonly tolerancePercent: number;
  /** The vendor's names of our models. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether models that Sounding counted and no file names are compared, too. */
  readonly includesOthers: boolean;
}

export interface Compared {
  readonly rows: readonly Comparison[];
  readonly totals: readonly Comparison[];
  /** Models that Sounding counted and no file names, if they were left out. */
  readonly leftOut: readonly string[];
}

interface Sides {
  counted: bigint;
  invoiced: bigint;
  rounding: bigint;
  unpricedCalls: number;
  readonly day: string | null;
  readonly model: string | null;
  readonly measure: Measure;
}

/** @param spend by day and model, of the invoice's days */
export function compareSpend(invoice: InvoiceSums, spend: Spend, options: CompareOptions): Compared {
  const sides = new Map<string, Sides>();
  const totals = new Map<Measure, Sides>();
  const leftOut = new Set<string>();
  const invoicedModels = new Map(
    [...invoice.sums.values()].flatMap(({ model }) =>
      model === undefined ? [] : [[modelIdentity(model), model] as const],
    ),
  );
  const sideOf = (date: string, model: string | null, measure: Measure): Sides[] => {
    const isByModel = invoice.measures.get(measure)!.isByModel;
    const day = options.isByDay ? date : null;
    const identity = isByModel && model !== null ? modelIdentity(model) : null;
    const id = JSON.stringify([day, identity, measure]);
    const shown = identity === null ? null : (invoicedModels.get(identity) ?? model);
    return [
      getOrAdd(sides, id, () => emptySides(day, isByModel ? shown : null, measure)),
      getOrAdd(totals, measure, () => emptySides(null, null, measure)),
    ];
  };
  for (const { amounts, date, model } of invoice.sums.values()) {
    for (const [measure, { amount, rounding }] of amounts) {
      for (const side of sideOf(date, model ?? null, measure)) {
        side.invoiced += amount;
        side.rounding += rounding;
      }
    }
  }
  for (const row of spend.data) {
    const own = row.group["model"] ?? "(none)";
    const model = options.names.get(own) ?? own;
    for (const measure of measures) {
      const kind = invoice.measures.get(measure);
      if (kind === undefined) continue;
      if (kind.isByModel && !options.includesOthers && !invoicedModels.has(modelIdentity(model))) {
        leftOut.add(own);
        continue;
      }
      for (const side of sideOf(row.group["day"]!, model, measure)) {
        side.counted += countedOf(row, measure, invoice.currency);
        side.unpricedCalls += row.unpriced_calls;
      }
    }
  }
  const compare = (side: Sides): Comparison => toComparison(side, options.tolerancePercent);
  const rows = [...sides.values()].map(compare).sort(byDayAndModel);
  return { rows, totals: [...totals.values()].map(compare), leftOut: [...leftOut].sort() };
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
}

function emptySides(day: string | null, model: string | null, measure: Measure): Sides {
  return { day, model, measure, counted: 0n, invoiced: 0n, rounding: 0n, unpricedCalls: 0 };
}

function countedOf(row: Spend["data"][number], measure: Measure, currency: string | undefined): bigint {
  if (measure !== "cost") return BigInt(row[measure]);
  if (row.currency !== currency && row.cost !== "0") {
    throw new CliError(
      `Sounding counted in ${row.currency}, and the invoice is in ${currency}; they cannot be compared`,
    );
  }
  const [whole = "0", fraction = ""] = row.cost.split(".");
  return BigInt(whole + fraction.padEnd(costDigits, "0"));
}

/** Tolerances are in parts of a hundred million. */
const toleranceUnits = 100_000_000;

function toComparison(side: Sides, tolerancePercent: number): Comparison {
  const { counted, invoiced, measure, rounding } = side;
  const difference = counted - invoiced;
  const allowed = absolute(invoiced) * BigInt(Math.round((tolerancePercent / 100) * toleranceUnits));
  const exceeds = absolute(difference) * BigInt(toleranceUnits) > allowed + rounding * BigInt(toleranceUnits);
  return {
    day: side.day,
    model: side.model,
    measure,
    counted: textOf(counted, measure),
    invoiced: textOf(invoiced, measure),
    // Millionths are exact enough to be read.
    difference_percent: invoiced === 0n ? null : Number((difference * 100_000_000n) / absolute(invoiced)) / 1_000_000,
    exceeds,
    unpriced_calls: measure === "cost" ? side.unpricedCalls : 0,
  };
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function textOf(amount: bigint, measure: Measure): string {
  if (measure !== "cost") return String(amount);
  const digits = String(absolute(amount)).padStart(costDigits + 1, "0");
  const fraction = digits.slice(-costDigits).replace(/0+$/, "");
  const text = `${digits.slice(0, -costDigits)}${fraction === "" ? "" : `.${fraction}`}`;
  return amount < 0n ? `-${text}` : text;
}

function byDayAndModel(left: Comparison, right: Comparison): number {
  const textsOf = ({ day, measure, model }: Comparison): string =>
    JSON.stringify([day, model, measures.indexOf(measure)]);
  return textsOf(left) < textsOf(right) ? -1 : 1;
}
