/** The operations of the admin API on groups of alert rules. */
import { Type } from "typebox";
import { alertGroupMembers, alertGroupName } from "./alert-rules.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const strict = { additionalProperties: false } as const;
const root = "/admin/v1/alert_groups";
const administration = { tag: "Administration", permission: "admin", maxBodyBytes: adminBodyBytes } as const;
const reading = { ...administration, permission: "configuration_read" } as const;

const alertGroup = Type.Object(
  {
    object: Type.Literal("alert_group", { description: "Always `alert_group`." }),
    id: Type.String({ description: "Identifier of the group." }),
    organization_id: Type.String({ description: "Identifier of the organization." }),
    name: alertGroupName,
    ...alertGroupMembers,
    created_at: Type.Integer({ description: "Creation, UNIX seconds." }),
    updated_at: Type.Integer({ description: "Last change, UNIX seconds." }),
  },
  { description: "A group of alert rules of an organization." },
);
const AlertGroup = schema(alertGroup);
export type AlertGroup = TypeOf<typeof AlertGroup>;

const AlertGroupCreate = schema(
  Type.Object(
    {
      organization_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description: "Identifier or name of the organization. Absent: the caller's own.",
        }),
      ),
      name: alertGroupName,
      ...alertGroupMembers,
    },
    { ...strict, description: "A new group of alert rules." },
  ),
);
export type AlertGroupCreate = TypeOf<typeof AlertGroupCreate>;

const { rules, ...otherMembers } = alertGroupMembers;
const AlertGroupUpdate = schema(
  Type.Object(
    { name: Type.Optional(alertGroupName), ...otherMembers, rules: Type.Optional(rules) },
    { ...strict, description: "Changes to a group. `rules` and `labels` replace all rules and labels." },
  ),
);
export type AlertGroupUpdate = TypeOf<typeof AlertGroupUpdate>;

const AlertGroupPage = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(alertGroup, { description: "The groups, oldest first unless `order` is `desc`." }),
      has_more: Type.Boolean({ description: "Whether there are more pages." }),
      last_id: Type.Union([Type.String(), Type.Null()], {
        description: "Identifier of the last item; send it as `after` to get the next page.",
      }),
    },
    { description: "A page of groups of alert rules." },
  ),
);

const ofConfiguration =
  "Groups of the configuration are not among them; `GET /prometheus/api/v1/rules` shows all groups with their states.";
const checked =
  "Expressions and templates are checked; an error names the group, the rule and the position. The interval must be at least 10 seconds.";

export const listAlertGroupsOperation = operation({
  ...reading,
  id: "listAlertGroups",
  method: "GET",
  path: root,
  summary: "List groups of alert rules",
  description: ofConfiguration,
  queryParameters: {
    limit: "Page size, 1 to 100; default 20.",
    after: "Identifier that the page starts after: `last_id` of the previous page.",
    order: "`asc` (default): oldest first; `desc`: newest first.",
    organization_id:
      "Identifier or name of the organization. Absent: the caller's own, or all organizations for an operator key.",
    name: "Only the group with this name.",
    search: "Only groups whose name or identifier contains this text.",
  },
  answer: { type: "application/json", schema: AlertGroupPage, description: "A page of groups." },
});

export const createAlertGroupOperation = operation({
  ...administration,
  id: "createAlertGroup",
  method: "POST",
  path: root,
  summary: "Create a group of alert rules",
  description: checked,
  body: AlertGroupCreate,
  answer: { type: "application/json", schema: AlertGroup, description: "The new group.", status: 201 },
  example: {
    name: "agents",
    interval: "1m",
    rules: [
      {
        alert: "ManyFailedCalls",
        expr: 'sum by (service_name) (rate(inference_requests_total{status!="success"}[5m])) > 0.1',
        for: "5m",
        labels: { severity: "page" },
        annotations: { summary: "{{ $labels.service_name }}: {{ $value | humanize }} failed calls per second" },
      },
    ],
  },
});

const one = { path: `${root}/{alert_group_id}`, pathParameters: { alert_group_id: "Identifier of the group." } };

export const getAlertGroupOperation = operation({
  ...reading,
  ...one,
  id: "getAlertGroup",
  method: "GET",
  summary: "Show a group of alert rules",
  answer: { type: "application/json", schema: AlertGroup, description: "The group." },
});

export const updateAlertGroupOperation = operation({
  ...administration,
  ...one,
  id: "updateAlertGroup",
  method: "PATCH",
  summary: "Change a group of alert rules",
  description: `${checked} Alerts of rules whose name and labels stay the same continue.`,
  body: AlertGroupUpdate,
  answer: { type: "application/json", schema: AlertGroup, description: "The updated group." },
  example: { interval: "30s" },
});

export const deleteAlertGroupOperation = operation({
  ...administration,
  ...one,
  id: "deleteAlertGroup",
  method: "DELETE",
  summary: "Delete a group of alert rules",
  description: "Its firing alerts are sent as resolved.",
  answer: { type: "application/json", schema: AlertGroup, description: "The group as it was." },
});

export const alertGroupOperations: readonly Operation[] = [
  listAlertGroupsOperation,
  createAlertGroupOperation,
  getAlertGroupOperation,
  updateAlertGroupOperation,
  deleteAlertGroupOperation,
];
