/** How long the audit log is kept, and where it is exported to: `audit` of the configuration file. */
import { Type, type Static } from "typebox";

const exported = Type.Object(
  {
    organization: Type.String({
      minLength: 1,
      maxLength: 128,
      description:
        "Name of the organization that gets the entries of all organizations. Everyone who may read its telemetry may read them.",
    }),
    project: Type.String({
      minLength: 1,
      maxLength: 128,
      default: "audit",
      description: "Project of the log records. Its retention applies to them.",
    }),
  },
  { description: "Exports every entry as an OpenTelemetry log record. Absent: none is exported." },
);

export const audit = Type.Object(
  {
    retention_days: Type.Integer({
      minimum: 1,
      maximum: 36_500,
      default: 400,
      env: "SOUNDING_AUDIT_RETENTION_DAYS",
      description: "Days for which the audit log keeps its entries. Deletions of other data do not touch them.",
    }),
    export: Type.Optional(exported),
  },
  { default: {}, description: "The log of administration, sign-ins and access to recorded content." },
);
export type AuditSettings = Static<typeof audit>;
