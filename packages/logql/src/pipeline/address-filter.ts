/**
 * `ip(…)`: whether a text contains an IP address of a range.
 * https://grafana.com/docs/loki/latest/query/ip/
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { invalidQuery } from "./invalid-query.ts";
import { isInRange, parseAddress, parseAddressRange, type AddressRange } from "./ip-address.ts";
import { charactersPerCheck, isPauseDue, runSteps, type Steps } from "./run-steps.ts";
import type { Passes } from "./stage.ts";

/** @throws QueryError if the text is no address, network or range */
export function compileAddressFilter(addresses: string): (text: string, budget: YieldBudget) => Passes {
  const range = parseAddressRange(addresses);
  if (range === undefined) {
    throw invalidQuery(
      `ip: invalid pattern: ${JSON.stringify(addresses)}: write an address, a network (192.168.0.0/16) or a range ` +
        "(192.168.0.1-192.168.0.9)",
    );
  }
  return (text, budget) => runSteps(hasAddress(text, range, budget));
}

function* hasAddress(text: string, range: AddressRange, budget: YieldBudget): Steps<boolean> {
  let checkAt = charactersPerCheck;
  for (let at = 0; at < text.length; at++) {
    if (at >= checkAt) {
      checkAt = at + charactersPerCheck;
      if (isPauseDue(charactersPerCheck, budget)) yield budget.yield();
    }
    const span = candidateAt(text, at);
    if (span === 0) continue;
    const address = parseAddress(text.slice(at, at + span));
    if (address !== undefined && isInRange(range, address)) return true;
    // As in Loki, the character behind the candidate does not begin another one.
    at += span;
  }
  return false;
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
const isHexDigit = (unit: number): boolean =>
  isDigit(unit) || (unit >= 97 && unit <= 102) || (unit >= 65 && unit <= 70);
const dot = 46;
const colon = 58;

/** How many characters from here on may be an address; 0 if none begins here. */
function candidateAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (!isHexDigit(unit) && unit !== colon) return 0;
  if (isDigit(unit) && at + 3 < text.length && hasWithin(text, at + 1, 3, dot)) {
    return spanOf(text, at, (one) => isDigit(one) || one === dot);
  }
  return beginsVersion6(text, at) ? spanOf(text, at, (one) => isHexDigit(one) || one === dot || one === colon) : 0;
}

function hasWithin(text: string, from: number, count: number, unit: number): boolean {
  for (let at = from; at < from + count; at++) {
    if (text.charCodeAt(at) === unit) return true;
  }
  return false;
}

/** `::` and a digit, or up to four digits and a colon. */
function beginsVersion6(text: string, at: number): boolean {
  if (text.charCodeAt(at) === colon) return text.charCodeAt(at + 1) === colon && isHexDigit(text.charCodeAt(at + 2));
  for (let digits = 1; digits <= 4; digits++) {
    const unit = text.charCodeAt(at + digits);
    if (unit === colon) return true;
    if (!isHexDigit(unit)) return false;
  }
  return false;
}

function spanOf(text: string, at: number, accepts: (unit: number) => boolean): number {
  let end = at;
  while (end < text.length && accepts(text.charCodeAt(end))) end++;
  return end - at;
}
