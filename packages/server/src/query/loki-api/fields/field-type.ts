/** The types of detected fields, from the text of their values. */
import { parseByteSize } from "@sounding/logql/pipeline/byte-size";
import { parseGoDuration } from "@sounding/logql/pipeline/go-duration";
import { parseGoFloat } from "@sounding/logql/pipeline/go-number";

export type FieldType = "string" | "int" | "float" | "boolean" | "duration" | "bytes";

const booleans: ReadonlySet<string> = new Set(["t", "T", "true", "TRUE", "True", "f", "F", "false", "FALSE", "False"]);
/** No number, duration or size is longer. */
const longestQuantity = 64;

export function fieldType(value: string): FieldType {
  if (/^[+-]?\d{1,19}$/.test(value)) return "int";
  if (booleans.has(value)) return "boolean";
  if (value.length > longestQuantity) return "string";
  if (isValid(parseGoFloat(value))) return "float";
  // All quantities begin like a number.
  if (!/^[+-]?\.?\d/.test(value)) return "string";
  if (isValid(parseGoDuration(value))) return "duration";
  return isValid(parseByteSize(value)) ? "bytes" : "string";
}

function isValid(conversion: { readonly problem?: string | undefined }): boolean {
  return conversion.problem === undefined;
}

/** The type of values of both types. */
export function commonType(left: FieldType | undefined, right: FieldType): FieldType {
  if (left === undefined || left === right) return right;
  const numeric = (type: FieldType): boolean => type === "int" || type === "float";
  return numeric(left) && numeric(right) ? "float" : "string";
}
