/** Kinds of attribute values, and how each is stored. */

/**
 * Kinds of attribute values. `attribute_types` has one letter for each attribute, in the map's order; the empty string means
 * that all are strings. Values are stored as text: integers and doubles in JSON's notation (doubles also NaN, Infinity,
 * -Infinity), `true` or `false`, bytes in base64, lists and maps as OTLP/JSON AnyValue, empty values as the empty string.
 */
export const attributeKinds = {
  string: "s",
  integer: "i",
  double: "d",
  boolean: "b",
  bytes: "y",
  array: "a",
  map: "k",
  empty: "e",
  /** A value of another kind that is encrypted: readers return that kind's letter and the value as text. */
  encrypted: "x",
} as const;

/** Kinds whose values are not stored as the text that queries show and search: statements cannot decide what is in them. */
export const opaqueKinds: readonly string[] = [attributeKinds.array, attributeKinds.map, attributeKinds.encrypted];
