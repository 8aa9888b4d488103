/** The version of this package, sent as the header `sdk_version`. A test holds it equal to package.json's. */
export const clientVersion = "1.32.0";
