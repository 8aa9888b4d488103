/** The version of this package, sent in the header `sdk_version`. */
export const clientVersion = "0.1.0";
