/** Patterns of texts that many settings share. */

/** A URL with an optional path, without user information, query or fragment. */
export const httpUrl = "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$";
/** A key that can be sent in a header. */
export const sendableKey = "^[\\x21-\\x7e]*$";
