/** Alert rules and where alerts are sent: `alerts` of the configuration file. */
import { Type, type Static } from "typebox";
import { alertGroupMembers, alertGroupName } from "../api/alert-rules.ts";
import { httpUrl, milliseconds, secret, sendableKey } from "./setting-types.ts";

const organizations = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128, description: "Name of an organization." }), {
      minItems: 1,
      maxItems: 1_000,
      description: `Names of the organizations ${what}; \`*\` matches any text. Absent: all.`,
    }),
  );

const group = Type.Object(
  { name: alertGroupName, organizations: organizations("that the rules are evaluated for"), ...alertGroupMembers },
  { description: "A group of alert rules." },
);

const ruleFile = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      description:
        "Path of the file, relative to the folder of the configuration file; `*` matches any text of a name. The file has the member `groups`, as in Prometheus.",
    }),
    organizations: organizations("that the rules are evaluated for"),
    language: alertGroupMembers.language,
    project: alertGroupMembers.project,
  },
  { description: "A file with groups of alert rules." },
);

const url = (what: string) =>
  Type.String({ pattern: httpUrl, description: `${what} The address of a receiver can only be set here.` });

const atAnyReceiver = {
  organizations: organizations("whose alerts the receiver gets"),
  bearer_token: Type.Optional(
    secret("Token that is sent as `Authorization: Bearer`. Absent: none is sent.", { pattern: sendableKey }),
  ),
  timeout_ms: milliseconds(10_000, "Longest wait for the response to one request."),
  retry_for_ms: milliseconds(
    900_000,
    "How long a notification that could not be delivered is sent again, with growing pauses.",
  ),
  max_queued: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 10_000,
    description:
      "Maximum number of queued alerts; with more, the oldest of the organization that has the most are dropped.",
  }),
};

const alertmanagerReceiver = Type.Object(
  {
    type: Type.Literal("alertmanager", { description: "Alertmanager's API, version 2." }),
    url: url("Address of Alertmanager, such as `http://alertmanager:9093`."),
    ...atAnyReceiver,
  },
  { description: "Alertmanager's API, version 2." },
);

const webhookReceiver = Type.Object(
  {
    type: Type.Literal("webhook", { description: "Signed requests in the form of Alertmanager's webhooks." }),
    url: url("Address that gets the requests."),
    secret: secret("Secret of the signature: `whsec_` and 24 to 64 bytes in Base64.", {
      pattern: "^whsec_[A-Za-z0-9+/]{32,88}={0,2}$",
    }),
    repeat_interval_ms: milliseconds(14_400_000, "Time after which an alert that still fires is sent again."),
    ...atAnyReceiver,
  },
  { description: "Signed requests in the form of Alertmanager's webhooks." },
);

const receiver = Type.Union([alertmanagerReceiver, webhookReceiver]);
export type ReceiverSettings = Static<typeof receiver>;

export const alerts = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description: "Whether this server evaluates alert rules. Of several servers with one database, one does.",
    }),
    groups: Type.Array(group, { maxItems: 1_000, default: [], description: "Groups of alert rules." }),
    rule_files: Type.Array(ruleFile, { maxItems: 100, default: [], description: "Files with groups of alert rules." }),
    receivers: Type.Record(Type.String({ minLength: 1, maxLength: 128 }), receiver, {
      default: {},
      description: "Where alerts are sent, each under a name of your choice.",
    }),
    external_url: Type.Optional(
      Type.String({
        pattern: httpUrl,
        description:
          "Address of this server in links of notifications. Absent: `server.public_url`, otherwise the address that it listens on.",
      }),
    ),
    concurrent_evaluations: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 2,
      description:
        "Maximum number of rules that are evaluated at the same time. One organization has at most one place less, if there are several.",
    }),
    evaluation_timeout_ms: milliseconds(10_000, "Longest evaluation of one rule."),
    resend_delay_ms: milliseconds(60_000, "Time after which a firing alert is sent to Alertmanager again."),
  },
  { default: {}, description: "Alert rules, and where alerts are sent." },
);
export type AlertSettings = Static<typeof alerts>;
