/** `sounding audit`: who administered what, signed in, was refused, exported or read. */
import { connectionOptions, organizationOption, withAdminApi, type AdminApi } from "../administration.ts";
import { showTime } from "../admin-output.ts";
import { UsageError } from "../cli-error.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

interface Named {
  readonly kind: string | null;
  readonly id: string | null;
  readonly name: string | null;
}

interface AuditEvent {
  readonly id: string;
  readonly created_at: number;
  readonly actor: Named;
  readonly target: Named;
  readonly action: string;
  readonly address: string | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly count: number;
}

interface Verification {
  readonly valid: boolean;
  readonly entries: number;
  readonly last_sequence: number;
  readonly last_hash: string;
  readonly problems: readonly { readonly message: string }[];
}

const pageSize = 100;

const listCommand = command({
  name: "list",
  summary: "List the audit log, the newest entry last",
  description:
    "An operator key shows the entries of all organizations, any other key with the permission admin those of its own. --json has more, such as the object before and after a change.",
  options: {
    limit: {
      type: "string",
      value: "COUNT",
      default: "100",
      description: "How many entries to show, the newest ones.",
    },
    actor: { type: "string", value: "NAME", description: "Only acts of this key: name or ID." },
    action: { type: "string", value: "NAME", description: "Only this operation, such as updateKey." },
    target: {
      type: "string",
      value: "NAME",
      description: "Only acts upon this object: name, ID or kind, such as key.",
    },
    outcome: {
      type: "string",
      value: "OUTCOME",
      choices: ["done", "refused", "failed"],
      description: "Only entries with this outcome: done, refused or failed.",
    },
    start: { type: "string", value: "TIME", description: "Only entries of this RFC 3339 time or later." },
    end: { type: "string", value: "TIME", description: "Only entries before this RFC 3339 time." },
    organization: {
      ...organizationOption.organization,
      description: "Only entries that concern this organization: name or ID.",
    },
    ...timeOptions,
    ...connectionOptions,
  },
  examples: [
    ["sounding audit list --target support-bot", "Show what happened to a key."],
    ["sounding audit list --outcome refused --start 2026-11-24T00:00:00Z", "Show who was refused something."],
  ],
  async run({ values, json, io }) {
    const { action, actor, end, organization, outcome, start, target } = values;
    const filters = { action, actor, end, organization_id: organization, outcome, start, target };
    const limit = Number(values.limit);
    if (!Number.isSafeInteger(limit) || limit < 1)
      throw new UsageError(`--limit is ${JSON.stringify(values.limit)}; expected a number of at least 1`);
    const events = await withAdminApi(values, io, (api) => newest(api, filters, limit));
    if (json) {
      await writeJson(io.stdout, events);
      return exitCodes.ok;
    }
    const rows = events.map((each) => [
      showTime(each.created_at, values),
      textOf(each.actor),
      each.action,
      textOf(each.target),
      [each.code ?? each.outcome, ...(each.count > 1 ? [`×${each.count}`] : [])].join(" "),
      each.address ?? "-",
    ]);
    const columns = [
      { title: "time", whole: true },
      { title: "actor" },
      { title: "action", whole: true },
      { title: "target" },
      { title: "outcome", whole: true },
      { title: "address", whole: true, optional: 1 },
    ];
    await writeTable(io, columns, rows);
    return exitCodes.ok;
  },
});

type Filters = Readonly<Record<string, string | undefined>>;

/** Oldest first. */
async function newest(api: AdminApi, filters: Filters, limit: number): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  let after: string | null = null;
  do {
    const query = new URLSearchParams({ order: "desc", limit: String(Math.min(pageSize, limit - events.length)) });
    for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
    if (after !== null) query.set("after", after);
    const page: { data: AuditEvent[]; has_more: boolean; last_id: string | null } = await api.call(
      "GET",
      `/audit?${query.toString()}`,
    );
    events.push(...page.data);
    after = page.has_more ? page.last_id : null;
  } while (after !== null && events.length < limit);
  return events.reverse();
}

function textOf({ id, kind, name }: Named): string {
  const text = [kind, name ?? id].filter((part) => part !== null).join(" ");
  return text === "" ? "-" : text;
}

const verifyCommand = command({
  name: "verify",
  summary: "Verify that the audit log is complete and unchanged",
  description:
    "Checks every hash, on a server with an operator key or, with --local, in the database of a server that may be stopped. Exits with 1 if an entry was changed, removed, inserted or reordered. Prints the newest entry as an anchor: keep it elsewhere, and give it with --anchor next time, so that a cut or rewritten log is found even if all its hashes were computed again.",
  options: {
    anchor: { type: "string", value: "SEQUENCE:HASH", description: "An anchor of an earlier verification." },
    ...connectionOptions,
  },
  examples: [["sounding audit verify --local", "Verify the log of this machine's control database."]],
  async run({ values, json, io }) {
    const query = values.anchor === undefined ? "" : `?${new URLSearchParams({ anchor: values.anchor }).toString()}`;
    const result = await withAdminApi(
      values,
      io,
      (api) => api.call<Verification>("GET", `/audit/verification${query}`),
      {
        timeoutMs: verifyTimeoutMs,
      },
    );
    if (json) await writeJson(io.stdout, result);
    else {
      for (const { message } of result.problems) await writeLine(io.stdout, message);
      const entries = result.entries === 1 ? "1 entry" : `${result.entries} entries`;
      await writeLine(io.stdout, result.valid ? `The audit log is valid: ${entries}.` : "The audit log is NOT valid.");
      await writeLine(io.stdout, `Anchor: ${result.last_sequence}:${result.last_hash}`);
    }
    return result.valid ? exitCodes.ok : exitCodes.failed;
  },
});

/** It reads the whole log. */
const verifyTimeoutMs = 600_000;

export const auditCommand = command({
  name: "audit",
  summary: "Show and verify the log of administration, sign-ins and access to recorded content",
  subcommands: [listCommand, verifyCommand],
});
