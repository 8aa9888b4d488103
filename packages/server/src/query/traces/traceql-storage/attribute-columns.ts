/** An attribute in the columns of a row, in SQL. */
import { bind, sql, type Statement } from "../../../store/statement.ts";

/** The columns of a row's attributes. */
export interface AttributeColumns {
  readonly map: Statement;
  readonly types: Statement;
}

export const rowAttributes: AttributeColumns = { map: sql`attributes`, types: sql`attribute_types` };

/** The letter of the value's kind; of absent attributes any. */
export function kindOf(name: string, { map, types }: AttributeColumns): Statement {
  return sql`if(${types} = '', 's', substring(${types}, indexOf(mapKeys(${map}), ${bind.text(name)}), 1))`;
}

export function valueOf(name: string, { map }: AttributeColumns): Statement {
  return sql`${map}[${bind.text(name)}]`;
}

/** Whether the row has the attribute, also with an empty value. */
export function hasAttribute(name: string, { map }: AttributeColumns): Statement {
  return sql`mapContains(${map}, ${bind.text(name)})`;
}
