/** `sounding budget`: limits in money. */
import { connectionOptions, organizationOption, withAdminApi, type AdminObject } from "../administration.ts";
import { changesOf, withoutUndefined } from "../admin-options.ts";
import { showTime, writeObject, writeResult } from "../admin-output.ts";
import { changeOptions, readAmount, readSubject, readThresholds } from "../budget-options.ts";
import { UsageError } from "../cli-error.ts";
import { command, type Options } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

interface Use {
  readonly used: number;
  readonly reserved: number;
  readonly remaining: number | null;
}

interface Budget extends AdminObject, Use {
  readonly organization_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly subject: string;
  readonly value: string | null;
  readonly tag: string | null;
  readonly period: string;
  readonly resets_at: number | null;
  readonly values?: readonly (Use & { readonly value: string })[];
}

const budgetArgument = {
  name: "budget",
  description: "Name or ID of the budget, as listed by `sounding budget list`.",
  required: true,
};
/** The organization is needed only if budgets of several organizations have the same name. */
const whichOptions = {
  organization: {
    ...organizationOption.organization,
    description: "Name or ID of the budget's organization, if several organizations have a budget with this name.",
  },
  ...timeOptions,
  ...connectionOptions,
} as const satisfies Options;

const createCommand = command({
  name: "create",
  summary: "Create a budget: an amount of money that calls may cost in a period",
  description: `The budget counts the calls of the whole organization, or those of one project, key, end user, model or tag. With --each, each of
them has the whole amount. A call counts in every budget that applies to it, and is refused with 429 if it does not fit into one.`,
  arguments: [{ name: "name", description: "Name of the budget; errors and notifications have it.", required: true }],
  options: {
    amount: { type: "string", value: "AMOUNT", description: "The amount, in the currency of the server's prices." },
    period: {
      type: "string",
      value: "PERIOD",
      choices: ["day", "week", "month", "total"],
      description: "When the budget starts again; weeks begin on Monday, `total` never starts again. Default: month.",
    },
    "time-zone": {
      type: "string",
      value: "ZONE",
      description: "Time zone in which periods begin, such as Europe/Berlin. Default: UTC.",
    },
    project: { type: "string", short: "p", value: "NAME", description: "Only calls of this project." },
    key: { type: "string", value: "KEY", description: "Only calls with this API key: its name or ID." },
    user: { type: "string", value: "USER", description: "Only calls for this end user." },
    model: { type: "string", value: "MODEL", description: "Only calls of this model or alias." },
    tag: {
      type: "string",
      value: "NAME=VALUE",
      description: "Only calls whose metadata or header x-tags has this member.",
    },
    each: {
      type: "string",
      value: "SUBJECT",
      description:
        "One budget for each `project`, `key`, `user` or `model`, or, with `tag:NAME`, for each value of a tag.",
    },
    ...changeOptions,
    ...organizationOption,
    ...timeOptions,
    ...connectionOptions,
  },
  examples: [
    ["sounding budget create trial -o acme --amount 1 --key laptop", "One dollar a month for a key."],
    [
      "sounding budget create users -o acme --amount 5 --each user --period day",
      "Five dollars a day for each end user.",
    ],
    [
      "sounding budget create all -o acme --amount 1000 --only-report --thresholds 50,80,100",
      "Report what the organization spends, and refuse nothing.",
    ],
  ],
  async run({ values, positionals, json, io }) {
    if (values.amount === undefined) throw new UsageError("--amount is missing");
    const amount = readAmount(values.amount);
    const created = await withAdminApi(values, io, async (api) => {
      const organization_id = await api.organizationId(values.organization);
      const members = {
        organization_id,
        name: positionals[0],
        amount,
        period: values.period,
        time_zone: values["time-zone"],
        enforced: values["only-report"] === true ? false : undefined,
        thresholds: readThresholds(values.thresholds),
        unpriced: values.unpriced,
        ...(await readSubject(api, values, organization_id)),
      };
      return await api.call<Budget>("POST", "/budgets", withoutUndefined(members));
    });
    return await writeResult(io, { json, values }, created);
  },
});

const listCommand = command({
  name: "list",
  summary: "List budgets with what is used of them",
  options: { ...organizationOption, ...timeOptions, ...connectionOptions },
  async run({ values, json, io }) {
    const { all, organizations } = await withAdminApi(values, io, async (api) => ({
      all: await api.list<Budget>("/budgets", { organization_id: values.organization }),
      organizations: json ? undefined : await api.organizationNames(),
    }));
    if (json) {
      await writeJson(io.stdout, all);
      return exitCodes.ok;
    }
    const rows = all.map((each) => [
      each.name,
      organizations?.get(each.organization_id) ?? each.organization_id,
      subjectOf(each),
      `${each.amount} ${each.currency}`,
      each.period,
      String(each.used),
      each.remaining === null ? "" : barOf(each.used, each.reserved, each.amount),
      String(each.reserved),
      each.remaining === null ? "-" : String(each.remaining),
      showTime(each.resets_at, values),
      each.id,
    ]);
    const columns = [
      "name",
      { title: "organization", optional: 2 },
      "for",
      { title: "amount", ...number },
      { title: "period", whole: true, optional: 1 },
      { title: "used", ...number },
      { title: "", whole: true, optional: 3 },
      { title: "reserved", ...number, optional: 4 },
      { title: "remaining", ...number },
      { title: "starts again", whole: true, optional: 5 },
      { title: "id", whole: true, optional: 6 },
    ];
    await writeTable(io, columns, rows);
    return exitCodes.ok;
  },
});

const showCommand = command({
  name: "show",
  summary: "Show a budget with what is used of it, also by each of its values",
  arguments: [budgetArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const shown = await withAdminApi(values, io, async (api) =>
      api.call<Budget>("GET", `/budgets/${await api.budgetId(positionals[0]!, values.organization)}`),
    );
    if (json) return await writeResult(io, { json, values }, shown);
    const { values: each, ...budget } = shown;
    await writeObject(io.stdout, budget, values);
    if (each === undefined) return exitCodes.ok;
    await writeLine(io.stdout, "");
    const rows = each.map(({ remaining, reserved, used, value }) => [
      value,
      String(used),
      barOf(used, reserved, shown.amount),
      String(reserved),
      String(remaining),
    ]);
    const columns = [
      shown.tag ?? shown.subject,
      { title: "used", ...number },
      { title: "", whole: true, optional: 1 },
      { title: "reserved", ...number, optional: 2 },
      { title: "remaining", ...number },
    ];
    await writeTable(io, columns, rows);
    return exitCodes.ok;
  },
});

const updateCommand = command({
  name: "update",
  summary: "Change a budget's name, amount or thresholds; what is used of it stays",
  arguments: [budgetArgument],
  options: {
    name: { type: "string", value: "NAME", description: "The new name." },
    amount: { type: "string", value: "AMOUNT", description: "The new amount." },
    enforce: { type: "boolean", description: "Refuse calls that do not fit into the budget." },
    ...changeOptions,
    ...whichOptions,
  },
  async run({ values, positionals, json, io }) {
    if (values.enforce === true && values["only-report"] === true) {
      throw new UsageError("--enforce and --only-report contradict each other; use one of them");
    }
    const changes = changesOf({
      name: values.name,
      amount: values.amount === undefined ? undefined : readAmount(values.amount),
      enforced: values.enforce === true ? true : values["only-report"] === true ? false : undefined,
      thresholds: readThresholds(values.thresholds),
      unpriced: values.unpriced,
    });
    const updated = await withAdminApi(values, io, async (api) =>
      api.call<Budget>("PATCH", `/budgets/${await api.budgetId(positionals[0]!, values.organization)}`, changes),
    );
    return await writeResult(io, { json, values }, updated);
  },
});

const deleteCommand = command({
  name: "delete",
  summary: "Delete a budget, and what is recorded of its use",
  arguments: [budgetArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const deleted = await withAdminApi(values, io, async (api) =>
      api.call<Budget>("DELETE", `/budgets/${await api.budgetId(positionals[0]!, values.organization)}`),
    );
    return await writeResult(io, { json, values }, deleted);
  },
});

const number = { align: "right", whole: true } as const;

function subjectOf({ subject, tag, value }: Budget): string {
  if (subject === "organization") return "organization";
  const name = tag === null ? subject : `tag ${tag}`;
  return value === null ? `each ${name}` : `${name} ${value}`;
}

const barWidth = 10;

/** What is used, then what is reserved. */
function barOf(used: number, reserved: number, amount: number): string {
  const cells = (part: number): number => Math.min(barWidth, Math.round((part / amount) * barWidth));
  const full = cells(used);
  const held = Math.max(0, cells(used + reserved) - full);
  return `${"█".repeat(full)}${"▒".repeat(held)}${"░".repeat(barWidth - full - held)}`;
}

export const budgetCommand = command({
  name: "budget",
  summary: "Manage budgets: how much calls may cost",
  subcommands: [createCommand, listCommand, showCommand, updateCommand, deleteCommand],
});
