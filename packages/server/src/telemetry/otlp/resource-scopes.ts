/**
 * Reads the resources and scopes of a request. Their attributes are stored once, under a hash. The resource also determines
 * the project of its records.
 */
import { type CheckedKey, defaultProjectName, type ProjectSettings, Scope } from "../../tenant.ts";
import { AppError } from "../../errors.ts";
import { writeText } from "./any-value.ts";
import { writeResource, writeScope } from "../rows/description-rows.ts";
import { type KnownAttributes, positionsOf } from "../rows/known-attributes.ts";
import type { RecordGroup } from "../rows/record-group.ts";
import { AttributeFinder, AttributeNames } from "./attribute-finder.ts";
import { AttributeReader, AttributeWriter, hashAttributes } from "./attributes.ts";
import { Hash64 } from "../rows/hash64.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { uint32Of, writeTextOf } from "./message-fields.ts";
import { maxDescriptionBytes } from "./record-limit.ts";
import { resource as resourceMessage, scope as scopeMessage } from "../../protobuf/otlp-messages.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import { inputLimit } from "../../input-limits.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { redactMessage } from "../redaction/redact-message.ts";
import type { TextRedactor } from "../redaction/text-redactor.ts";

/** A project's settings; not a promise if they are cached. */
export type SettingsOf = (scope: Scope) => ProjectSettings | Promise<ProjectSettings>;

/** What redacts a project's telemetry; undefined: nothing. */
export type RedactorOf = (scope: Scope, settings: ProjectSettings) => TextRedactor | undefined;

/** The records of one resource and scope, and which times they can have. */
export interface ResourceScope extends RecordGroup {
  /** Of the project; undefined: nothing is redacted. */
  readonly redactor: TextRedactor | undefined;
  /** UNIX milliseconds between which a record's time must lie. */
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** Where a value is in the request's bytes; 0 and 0 for an absent one. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Why records are rejected. */
interface Refusal {
  readonly refusal: string;
}

function tooLarge(what: "resource" | "scope"): Refusal {
  return { refusal: `of a ${what} larger than ${maxDescriptionBytes} bytes` };
}

function sizeOf({ start, end }: ByteRange): number {
  return end - start;
}

/** A project that the request can write to, or why it cannot. */
type Project =
  | { readonly name: Uint8Array; readonly days: number; readonly redactor: TextRedactor | undefined }
  | Refusal;

/** Records of further projects are rejected, because each project needs a lookup. */
const maximumProjects = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Projects in one request",
  value: 100,
  error: { instead: "records of additional projects are rejected" },
});
const dayMs = 86_400_000;

const resourceField = resourceMessage.fields;
const scopeField = scopeMessage.fields;

/** What a resource says about its project and service. */
const resourceAttributes = {
  project: ["project.name", "project_name"],
  namespace: ["service.namespace"],
  service: ["service.name"],
} as const satisfies KnownAttributes;
const position = positionsOf(resourceAttributes);
const knownNames = new AttributeNames(resourceAttributes);

/** Reads the resources and scopes of one request. */
export class ResourceScopeReader {
  readonly #caller: Scope;
  readonly #settingsOf: SettingsOf;
  readonly #redactorOf: RedactorOf | undefined;
  readonly #builder: ExportBuilder;
  readonly #resource = new MessageScan(resourceMessage);
  readonly #scope = new MessageScan(scopeMessage);
  readonly #reader = new AttributeReader();
  readonly #writer = new AttributeWriter();
  readonly #finder = new AttributeFinder(knownNames);
  readonly #hash = new Hash64();
  readonly #projects = new Map<string, Project>();

  constructor(parts: {
    scope: Scope;
    settingsOf: SettingsOf;
    redactorOf?: RedactorOf | undefined;
    builder: ExportBuilder;
  }) {
    this.#caller = parts.scope;
    this.#settingsOf = parts.settingsOf;
    this.#redactorOf = parts.redactorOf;
    this.#builder = parts.builder;
  }

  /** The group of a resource, without a scope yet; or why the resource's records are rejected. */
  async resource(sent: Uint8Array, range: ByteRange, schemaUrl: ByteRange): Promise<ResourceScope | Refusal> {
    if (sizeOf(range) + sizeOf(schemaUrl) > maxDescriptionBytes) return tooLarge("resource");
    this.#readResource(sent, range);
    const named = this.#finder.stringValue(position.project, sent);
    const project = await this.#project(named, this.#finder.stringValue(position.namespace, sent));
    if ("refusal" in project) return project;
    const { redactor } = project;
    const yielder = new CooperativeYield();
    const redacted = await redactMessage({ type: resourceMessage, bytes: sent, ...range }, redactor, yielder);
    if (redacted !== undefined) this.#readResource(redacted, { start: 0, end: redacted.length });
    const bytes = redacted ?? sent;
    const service = Buffer.from(this.#finder.text(position.service, bytes), "utf8");
    const { nowMs } = this.#builder;
    const resourceId = this.#writeResource(bytes, sent.subarray(schemaUrl.start, schemaUrl.end), project.days);
    return {
      redactor,
      project: project.name,
      service,
      days: project.days,
      earliestMs: nowMs - project.days * dayMs,
      latestMs: nowMs + dayMs,
      resourceId,
      scopeId: new Uint8Array(8),
    };
  }

  #readResource(bytes: Uint8Array, { start, end }: ByteRange): void {
    const scan = this.#resource;
    scan.read(bytes, start, end);
    const attributes = scan.list(resourceField.attributes);
    this.#finder.reset();
    for (let index = 0; index < attributes.length; index += 1) {
      this.#reader.read(bytes, attributes.start(index), attributes.end(index));
      this.#finder.note(bytes, this.#reader);
    }
  }

  /** The same group for one of the resource's scopes; or why the scope's records are rejected. */
  async scope(
    group: ResourceScope,
    sent: Uint8Array,
    range: ByteRange,
    schemaUrl: ByteRange,
  ): Promise<ResourceScope | Refusal> {
    if (sizeOf(range) + sizeOf(schemaUrl) > maxDescriptionBytes) return tooLarge("scope");
    const yielder = new CooperativeYield();
    const redacted = await redactMessage({ type: scopeMessage, bytes: sent, ...range }, group.redactor, yielder);
    const bytes = redacted ?? sent;
    const scan = this.#scope;
    if (redacted === undefined) scan.read(sent, range.start, range.end);
    else scan.read(redacted, 0, redacted.length);
    const { starts, ends } = scan;
    const { name, version } = scopeField;
    const attributes = scan.list(scopeField.attributes);
    const dropped = uint32Of(scan, scopeField.droppedAttributesCount);
    const hash = this.#hash.reset().add(dropped, 1).add(group.days, 0);
    hash.addBytes(bytes, starts[name]!, ends[name]!).addBytes(bytes, starts[version]!, ends[version]!);
    hash.addBytes(sent, schemaUrl.start, schemaUrl.end);
    hashAttributes(hash, bytes, attributes).finish();
    const scopeId = hash.bytes().slice();
    if (this.#builder.isNew("scopes", hash.toBigInt())) {
      writeScope(this.#builder, {
        id: scopeId,
        days: group.days,
        droppedAttributes: dropped,
        writeName: (column) => writeTextOf(column, scan, name),
        writeVersion: (column) => writeTextOf(column, scan, version),
        writeAttributes: (map, types) => this.#writer.write({ map, types }, bytes, attributes),
        writeSchemaUrl: (column) => writeText(column, sent, schemaUrl.start, schemaUrl.end),
      });
    }
    return { ...group, scopeId };
  }

  #writeResource(bytes: Uint8Array, schemaUrl: Uint8Array, days: number): Uint8Array {
    const scan = this.#resource;
    const attributes = scan.list(resourceField.attributes);
    const dropped = uint32Of(scan, resourceField.droppedAttributesCount);
    const hash = this.#hash.reset().add(dropped, 2).add(days, 0).addBytes(schemaUrl, 0, schemaUrl.length);
    hashAttributes(hash, bytes, attributes).finish();
    const resourceId = hash.bytes().slice();
    if (this.#builder.isNew("resources", hash.toBigInt())) {
      writeResource(this.#builder, {
        id: resourceId,
        days,
        droppedAttributes: dropped,
        writeAttributes: (map, types) => this.#writer.write({ map, types }, bytes, attributes),
        writeSchemaUrl: (column) => writeText(column, schemaUrl, 0, schemaUrl.length),
      });
    }
    return resourceId;
  }

  /** The project that the resource names, or else the request or its key, or else the service's namespace. */
  async #project(named: string | undefined, namespace: string | undefined): Promise<Project> {
    const name = named ?? this.#caller.namedProject ?? namespace ?? defaultProjectName;
    const id = `${named === undefined ? "" : "named "}${name}`;
    const known = this.#projects.get(id);
    if (known !== undefined) return known;
    if (this.#projects.size >= maximumProjects) {
      return { refusal: `of more than ${maximumProjects} projects in one request` };
    }
    const project = await this.#lookUp(name, named !== undefined);
    this.#projects.set(id, project);
    return project;
  }

  async #lookUp(name: string, named: boolean): Promise<Project> {
    const scope = scopeOf(this.#caller.key, name, named);
    if (typeof scope === "string") return { refusal: scope };
    const settings = this.#settingsOf(scope);
    const known = settings instanceof Promise ? await settings : settings;
    const redactor = this.#redactorOf?.(scope, known);
    return { name: Buffer.from(scope.projectName, "utf8"), days: known.retention_days, redactor };
  }
}

/** The scope of a project, or why the key cannot write to it. A namespace that cannot name a project is ignored. */
function scopeOf(key: CheckedKey, project: string, named: boolean): Scope | string {
  try {
    return Scope.fromKey(key, { project });
  } catch (error) {
    if (!named) return Scope.fromKey(key);
    if (!(error instanceof AppError)) throw error;
    const shown = JSON.stringify(project.length > 128 ? `${project.slice(0, 128)}…` : project);
    return error.code === "project_mismatch"
      ? `of the project ${shown}, because this API key is bound to the project ${JSON.stringify(key.projectName)}`
      : `of the project ${shown}, which is not a valid name`;
  }
}
