/** Lists the upper bounds that request schemas set on their fields. */
import type { Operation } from "../packages/server/src/api/operation.ts";

export interface FieldLimit {
  readonly operation: string;
  /** As in `param`, with `[]` for any item and `.*` for any member. */
  readonly field: string;
  /** `characters`, `items`, `members` or `the value`. */
  readonly what: string;
  readonly most: number;
}

/** The keywords of JSON Schema that request schemas use. */
export interface FieldSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly items?: FieldSchema;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
}

const keywords = {
  maxLength: "characters",
  maxItems: "items",
  maxProperties: "members",
  maximum: "the value",
} as const;

/** Each bound once per operation and field. */
export function fieldLimits(operations: readonly Operation[]): FieldLimit[] {
  return operations.flatMap(({ id, body, form }) => {
    const schema: FieldSchema | undefined = (body ?? form?.fields)?.json;
    if (schema === undefined) return [];
    const found = boundsOf(schema, "").map((bound) => ({ operation: id, ...bound }));
    return [...new Map(found.map((bound) => [`${bound.field} ${bound.what} ${bound.most}`, bound])).values()];
  });
}

function boundsOf(schema: FieldSchema, path: string): Omit<FieldLimit, "operation">[] {
  const own = Object.entries(keywords).flatMap(([keyword, what]) => {
    const most = schema[keyword as keyof typeof keywords];
    return most === undefined || most === Number.MAX_SAFE_INTEGER ? [] : [{ field: path || "the body", what, most }];
  });
  return [
    ...own,
    ...(schema.anyOf ?? []).flatMap((branch) => boundsOf(branch, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      boundsOf(member, path === "" ? name : `${path}.${name}`),
    ),
    ...Object.values(schema.patternProperties ?? {}).flatMap((member) => boundsOf(member, `${path}.*`)),
    ...(schema.items === undefined ? [] : boundsOf(schema.items, `${path}[]`)),
  ];
}
