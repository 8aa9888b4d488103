/** Counts what calls cost. */
import type { FinishedCall } from "../finished-call.ts";
import { Counter } from "./counter.ts";

type Registers = ConstructorParameters<typeof Counter>[0]["registers"];

export function createCostCounter(registers: Registers): (call: FinishedCall, model: string) => void {
  const costs = new Counter({
    name: "sounding_call_cost_total",
    help: "What calls cost, in the currency of the prices; calls without a known cost are not included.",
    labelNames: ["operation", "model"],
    registers,
  });
  return ({ cost, kind }, model) => {
    if (cost !== undefined) costs.add(cost.total, kind, model);
  };
}
