/** The fields by which a grid groups spans: the columns that have them, and their values. */
import type { SpanGridRequest } from "@sounding/traceql/storage";
import type { StaticValue } from "@sounding/traceql/syntax/ast";
import { isContentAttribute } from "../../../store/content-attributes.ts";
import { sql, type Statement } from "../../../store/statement.ts";
import type { ResourceLookup } from "../../resource-lookup.ts";
import { hasAttribute, kindOf, rowAttributes, valueOf } from "./attribute-columns.ts";
import { kindNames, statusNames } from "./span-codes.ts";
import { fromAnyValue, toStaticValue } from "./stored-value.ts";

export type GridField = SpanGridRequest["by"][number];

/** Resources, by ID. */
export type Resources = ResourceLookup["resources"];

export interface GridKey {
  /** What rows are grouped by. */
  readonly columns: readonly Statement[];
  /** The position of a resource's ID among the columns; undefined if it is not needed. */
  readonly resourceAt: number | undefined;
  /** An attribute of spans, whose large values would be missed. */
  readonly attribute: string | undefined;
  /** The field's value from the columns' values. */
  readonly valueOf: (values: readonly string[], resources: Resources) => StaticValue;
}

const nil: StaticValue = { type: "nil" };

/** Undefined for fields that need more than the span's row. */
export function gridKey(field: GridField): GridKey | undefined {
  if (field.kind === "intrinsic") return intrinsicKey(field.intrinsic);
  const { name, ofParent, scope } = field;
  // The store cannot compare what is encrypted.
  if (ofParent || isContentAttribute(name)) return undefined;
  if (name === "service.name" && scope === "resource") {
    return columnKey(sql`service`, (text) => (text === "" ? nil : { type: "string", value: text }));
  }
  const has = hasAttribute(name, rowAttributes);
  const ofSpan = [sql`if(${has}, ${kindOf(name, rowAttributes)}, '')`, valueOf(name, rowAttributes)];
  const spanValue = ([kind, text]: readonly string[]): StaticValue => (kind === "" ? nil : toStaticValue(text!, kind!));
  switch (scope) {
    case "span":
      return { columns: ofSpan, resourceAt: undefined, attribute: name, valueOf: spanValue };
    case "resource":
      return {
        columns: [sql`resource_id`],
        resourceAt: 0,
        attribute: undefined,
        valueOf: ([id], resources) => resourceValue(name, resources, id!),
      };
    case null: {
      if (name === "service.name") return undefined;
      return {
        columns: [...ofSpan, sql`if(${has}, 0, resource_id)`],
        resourceAt: 2,
        attribute: name,
        valueOf: (values, resources) => {
          const own = spanValue(values);
          return own.type === "nil" ? resourceValue(name, resources, values[2]!) : own;
        },
      };
    }
    default:
      return undefined;
  }
}

function intrinsicKey(intrinsic: Extract<GridField, { kind: "intrinsic" }>["intrinsic"]): GridKey | undefined {
  switch (intrinsic) {
    case "name":
      return columnKey(sql`name`, (value) => ({ type: "string", value }));
    case "statusMessage":
      return columnKey(sql`status_message`, (value) => ({ type: "string", value }));
    case "status":
      return columnKey(sql`status_code`, (code) => ({ type: "status", value: statusNames[Number(code)] ?? "unset" }));
    case "kind":
      return columnKey(sql`kind`, (code) => ({ type: "kind", value: kindNames[Number(code)] ?? "unspecified" }));
    default:
      return undefined;
  }
}

function columnKey(column: Statement, convert: (text: string) => StaticValue): GridKey {
  return {
    columns: [column],
    resourceAt: undefined,
    attribute: undefined,
    valueOf: ([text]) => convert(text!),
  };
}

function resourceValue(name: string, resources: Resources, id: string): StaticValue {
  const found = resources.get(id)?.attributes.findLast(({ key }) => key === name);
  return found === undefined ? nil : fromAnyValue(found.value);
}
