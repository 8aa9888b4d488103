/** What is replaced in telemetry before it is stored: `redaction` of the configuration file. */
import { Type, type Static } from "typebox";
import { sensitiveKinds } from "../sensitive-data/kinds.ts";
import { namePatterns, sensitiveKind } from "./guardrails.ts";

const rule = Type.Object(
  {
    kinds: Type.Array(sensitiveKind, {
      maxItems: sensitiveKinds.length,
      default: [],
      description: "Kinds of data to replace.",
    }),
    patterns: Type.Record(
      Type.String(),
      Type.String({ minLength: 1, maxLength: 500, description: "A regular expression in RE2 syntax." }),
      {
        propertyNames: { pattern: "^[a-z][a-z0-9_]{0,31}$" },
        maxProperties: 20,
        default: {},
        description:
          "Own regular expressions in RE2 syntax, each under a name of lowercase letters, digits and `_`; `[redacted: NAME]` replaces a match. Matches of more than 256 characters may be cut in longer texts.",
      },
    ),
    organizations: namePatterns("Organizations"),
    projects: namePatterns("Projects"),
  },
  { description: "What is replaced in the telemetry of some organizations and projects." },
);

export const redaction = Type.Record(Type.String({ minLength: 1, maxLength: 128 }), rule, {
  default: {},
  description:
    "Personal data and secrets that are replaced in spans, log records, metrics and recorded messages before they are stored, each rule under a name of your choice. A project can add kinds of its own (`redact` of its settings).",
});
export type RedactionSettings = Static<typeof redaction>;
