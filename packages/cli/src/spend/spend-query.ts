/** The options of commands that read spend, and the query that they mean. */
import { AsyncSounding, type CallOptions, type Spend, type SpendParams } from "@sounding/client";
import { UsageError } from "../cli-error.ts";
import type { CommandIo, Options, OptionValues } from "../command.ts";
import { connectionOptions, findConnection, openClient, requireKey } from "../connection.ts";
import { cliVersion } from "../version.ts";

/** Which calls, and whose. */
export const spendFilterOptions = {
  model: { type: "string", value: "ID", description: "Only calls of this model." },
  engine: { type: "string", value: "NAME", description: "Only calls that this engine served." },
  key: { type: "string", value: "ID", description: "Only calls with this API key." },
  user: { type: "string", value: "ID", description: "Only calls for this end user." },
  tag: {
    type: "string",
    value: "NAME=VALUE",
    multiple: true,
    description: "Only calls with this pair in their metadata; may be repeated.",
  },
  organization: {
    type: "string",
    short: "o",
    value: "NAME",
    description: "Only calls of this organization; needs an operator key.",
  },
  "all-organizations": { type: "boolean", description: "Calls of all organizations; needs an operator key." },
  ...connectionOptions,
  project: { type: "string", value: "NAME", description: "Only calls of this project." },
} as const satisfies Options;

type FilterValues = OptionValues<typeof spendFilterOptions>;

/** Throws UsageError. */
export function readSpendFilters(values: FilterValues): SpendParams {
  return {
    model: values.model,
    engine: values.engine,
    key_id: values.key,
    user_id: values.user,
    project_name: values.project,
    organization_id: values.organization,
    tags: values.tag === undefined ? undefined : Object.fromEntries(values.tag.map(readTag)),
  };
}

function readTag(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--tag is ${JSON.stringify(text)}; it must be a name, "=" and a value`);
}

export type ReadSpend = (params: SpendParams, options: CallOptions) => Promise<Spend>;

/** What reads spend with the key that the options name: an operator's for other organizations than the key's own. */
export async function openSpend(values: FilterValues, io: Pick<CommandIo, "env">): Promise<ReadSpend> {
  if (values["all-organizations"] !== true && values.organization === undefined) {
    const client = await openClient({ ...values, project: undefined }, io);
    return (params, options) => client.spend.query(params, options);
  }
  if (values["all-organizations"] === true && values.organization !== undefined) {
    throw new UsageError("--organization and --all-organizations cannot be combined");
  }
  const connection = await findConnection(values, io);
  const { key, url } = requireKey({ ...connection, apiKey: connection.operatorKey ?? connection.apiKey });
  const defaultHeaders = { "user-agent": `sounding-cli/${cliVersion()} node/${process.versions.node}` };
  const client = new AsyncSounding({ apiKey: key, baseUrl: url, defaultHeaders });
  return (params, options) => client.spend.queryOrganizations(params, options);
}
