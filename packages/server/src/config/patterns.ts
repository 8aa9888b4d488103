/** Patterns that several settings have in common. */

/** An address with a path if need be, but neither user nor query. */
export const httpUrl = "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$";
/** A key that can be sent in a header. */
export const sendableKey = "^[\\x21-\\x7e]*$";
