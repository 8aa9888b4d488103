/** The options of `sounding budget`: what a budget is for, and what can change. */
import type { AdminApi } from "./administration.ts";
import { UsageError } from "./cli-error.ts";
import type { Options } from "./command.ts";

export const changeOptions = {
  "only-report": {
    type: "boolean",
    description: "Refuse no calls; only report thresholds. With update, --enforce turns it off again.",
  },
  thresholds: {
    type: "string",
    value: "PERCENT",
    description:
      "Percentages of the amount that are reported when they are reached, such as 50,80,100; `none` for none.",
  },
  unpriced: {
    type: "string",
    value: "WHAT",
    choices: ["refuse", "allow"],
    description:
      "What happens to calls of models without a known price, which the budget cannot count. Default: refuse.",
  },
} as const satisfies Options;

const subjects = ["project", "key", "user", "model", "tag"] as const;

type SubjectValues = { readonly [Name in (typeof subjects)[number] | "each"]?: string | undefined };

/** @throws UsageError if several are given */
export async function readSubject(api: AdminApi, values: SubjectValues, organization: string): Promise<object> {
  const given = ([...subjects, "each"] as const).filter((name) => values[name] !== undefined);
  if (given.length > 1) {
    throw new UsageError(`--${given.join(" and --")} exclude each other; a budget is for one of them`);
  }
  const [subject] = given;
  if (subject === undefined) return {};
  const text = values[subject]!;
  if (subject === "each") return readEach(text);
  if (subject === "key") return { subject, value: await api.keyId(text, organization) };
  if (subject !== "tag") return { subject, value: text };
  const [tag, value] = splitAt(text, "=");
  if (value === "")
    throw new UsageError(`--tag is ${JSON.stringify(text)}; it must be a name and a value, such as team=blue`);
  return { subject, tag, value };
}

function readEach(text: string): object {
  const [subject, tag] = splitAt(text, ":");
  const isKnown = subjects.some((each) => each === subject);
  if (isKnown && (subject === "tag") === (tag !== "")) return { subject, ...(tag === "" ? {} : { tag }) };
  throw new UsageError(`--each is ${JSON.stringify(text)}; it must be project, key, user, model or tag:NAME`);
}

function splitAt(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

export function readAmount(text: string): number {
  const amount = /^\d{1,7}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  if (amount > 0) return amount;
  throw new UsageError(`--amount is ${JSON.stringify(text)}; it must be a number above 0, such as 10 or 0.5`);
}

export function readThresholds(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return [];
  const parts = text.split(",");
  if (parts.every((part) => /^\d{1,4}$/.test(part))) return parts.map(Number);
  throw new UsageError(`--thresholds is ${JSON.stringify(text)}; it must be percentages such as 50,80,100, or none`);
}
