/** Routes of Tempo's HTTP API. The key determines the organization and, if it is bound to one, the project. */
import { tempoOperations, type TempoEndpoint } from "../../api/tempo.ts";
import { AppError } from "../../errors.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type ErrorWriter, type Route, type RouteInput, type RouteResponse } from "../../http/route.ts";
import { parseIncomplete } from "@sounding/traceql/syntax/parse-incomplete";
import type { Store } from "../../store/store.ts";
import { openReader } from "../open-reader.ts";
import { serveInstantMetrics, serveRangeMetrics, serveSearch } from "./tempo-queries.ts";
import { attributeScopes, intrinsicTags, readScope, readTagField } from "./tag-field.ts";
import { listTagNames, type TagsRequest } from "./tag-names.ts";
import { listTagValues } from "./tag-values.ts";
import { TempoParameters } from "./tempo-parameters.ts";
import { findTrace, readTraceId, traceJson, traceProtobuf, type TraceVersion } from "./trace-by-id.ts";

interface TempoParts {
  readonly store: Pick<Store, "open" | "state">;
  readonly version: string;
}

interface Call {
  readonly input: RouteInput<never>;
  readonly parameters: TempoParameters;
}

type Serve = (call: Call) => Promise<RouteResponse> | RouteResponse;

/** The version of Tempo whose API this is. Tools read it to learn which features they can use. */
const tempoVersion = "2.10.0";
const defaultTags = 5000;
const longestTag = 1024;

export function tempoRoutes(parts: TempoParts): Route[] {
  const servers: Readonly<Record<TempoEndpoint, Serve>> = {
    ready: () => ({ kind: "text", text: "ready\n", type: "text/plain" }),
    echo: () => ({ kind: "text", text: "echo", type: "text/plain" }),
    buildInfo: () => ({
      kind: "json",
      value: { version: tempoVersion, application: `Sounding ${parts.version}` },
    }),
    trace: (call) => serveTrace(parts, call, 1),
    traceV2: (call) => serveTrace(parts, call, 2),
    search: (call) => serveSearch({ ...parts, ...call }),
    metricsRange: (call) => serveRangeMetrics({ ...parts, ...call }),
    metricsInstant: (call) => serveInstantMetrics({ ...parts, ...call }),
    tags: async (call) => {
      const scope = readScope(call.parameters.text("scope"));
      if (scope === "intrinsic") return lists({ tagNames: intrinsicTags });
      const names = await listTagNames(tagsRequest(parts, call), scope === undefined ? attributeScopes : [scope]);
      return lists({ tagNames: [...new Set([...names.values()].flat())].sort() });
    },
    tagsV2: (call) => serveTags(parts, call),
    tagValues: async (call) => {
      const values = await listTagValues(readTagField(tagOf(call)), tagsRequest(parts, call));
      return lists({ tagValues: [...new Set(values.map(({ value }) => value))] });
    },
    tagValuesV2: async (call) =>
      lists({ tagValues: await listTagValues(readTagField(tagOf(call)), filteredTagsRequest(parts, call)) }),
  };
  return Object.entries(tempoOperations).map(([endpoint, operation]) =>
    route(
      operation,
      (input) => servers[endpoint as TempoEndpoint]({ input, parameters: new TempoParameters(input.query) }),
      errorForm,
    ),
  );
}

/** Lists have the metrics of the search, of which none is known. */
function lists(value: object): RouteResponse {
  return incrementalJson({ ...value, metrics: {} });
}

async function serveTrace(
  { store }: TempoParts,
  { input, parameters }: Call,
  version: TraceVersion,
): Promise<RouteResponse> {
  const { headers, path, scope, signal } = input;
  const found = await findTrace({
    reader: openReader(store, input),
    project: scope.namedProject,
    traceId: readTraceId((path as { id: string }).id),
    range: parameters.traceRange(),
    signal,
  });
  const { accept } = headers;
  const isProtobuf = String(accept ?? "").includes("application/protobuf");
  return isProtobuf ? traceProtobuf(found, version) : traceJson(found, version);
}

async function serveTags(parts: TempoParts, call: Call): Promise<RouteResponse> {
  const scope = readScope(call.parameters.text("scope"));
  const wanted = scope === undefined ? attributeScopes : attributeScopes.filter((each) => each === scope);
  const names = await listTagNames(filteredTagsRequest(parts, call), wanted);
  const scopes = [...names].map(([name, tags]) => ({ name, tags }));
  const hasIntrinsics = scope === undefined || scope === "intrinsic";
  return lists({ scopes: hasIntrinsics ? [...scopes, { name: "intrinsic", tags: intrinsicTags }] : scopes });
}

function tagsRequest({ store }: TempoParts, { input, parameters }: Call): TagsRequest {
  return {
    reader: openReader(store, input),
    project: input.scope.namedProject,
    range: parameters.secondsRange(),
    condition: null,
    limit: parameters.integer("limit", { lowest: 0 }) || defaultTags,
    signal: input.signal,
  };
}

/** With the condition of `q`, which may be unfinished. */
function filteredTagsRequest(parts: TempoParts, call: Call): TagsRequest {
  const query = call.parameters.text("q");
  return { ...tagsRequest(parts, call), condition: query === undefined ? null : parseIncomplete(query) };
}

function tagOf({ input }: Call): string {
  const { tag } = input.path as { tag: string };
  if (tag.length <= longestTag) return tag;
  throw new AppError(
    "invalid_request",
    `tag in the path has ${tag.length} characters; at most ${longestTag} are allowed.`,
    { param: "tag" },
  );
}

const writeError: ErrorWriter = ({ message }: AppError) => ({
  bytes: Buffer.from(`${message}\n`),
  type: "text/plain; charset=utf-8",
});

const errorForm = { writeError, errorsUnder: "/tempo" } as const;
