/** The operations of the admin API on budgets: limits in money. */
import { Type, type TSchema } from "typebox";
import { namePattern } from "../tenant.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const strict = { additionalProperties: false } as const;
const root = "/admin/v1/budgets";
const administration = { tag: "Administration", permission: "admin", maxBodyBytes: adminBodyBytes } as const;
const reading = { ...administration, permission: "spend_read" } as const;

export const budgetSubjects = ["organization", "project", "key", "user", "model", "tag"] as const;
export type BudgetSubject = (typeof budgetSubjects)[number];
export const budgetPeriods = ["day", "week", "month", "total"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** In billionths, sums up to here are exact. */
export const highestAmount = 9_000_000;

function nullable<S extends TSchema>(inner: S, description: string) {
  return Type.Union([inner, Type.Null()], { description });
}

const name = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: namePattern,
  description:
    "Name of the budget, unique in the organization: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. Errors and notifications have it.",
});

const changeable = {
  amount: Type.Number({
    exclusiveMinimum: 0,
    maximum: highestAmount,
    description:
      "How much may be spent in a period, in the currency's unit. Fractions smaller than a billionth are rounded.",
  }),
  enforced: Type.Boolean({
    description:
      "Whether calls that do not fit into the budget are refused with 429. False: the budget only reports its thresholds.",
  }),
  thresholds: Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
    maxItems: 10,
    uniqueItems: true,
    description: "Percentages of the amount. When one is reached, it is reported once in the period.",
  }),
  unpriced: Type.Enum(["refuse", "allow"], {
    description:
      "What an enforced budget does with calls of models without a known price, whose cost it cannot count. Models of engines on the server's own machine that have no price count as free.",
  }),
};

const fixed = {
  currency: Type.String({
    pattern: "^[A-Z]{3}$",
    maxLength: 3,
    description:
      "Currency of the amount: its code in ISO 4217. It must be that of the server's prices, `telemetry.currency`.",
  }),
  subject: Type.Enum([...budgetSubjects], {
    description:
      "What the budget is for: calls of the whole organization, or of one or each project, API key, end user, model or tag.",
  }),
  value: nullable(
    Type.String({ minLength: 1, maxLength: 512 }),
    "The one project (its name), key (its identifier), end user, model (ID or alias) or value of the tag. Null: each one has the whole amount. Always null for an organization.",
  ),
  tag: nullable(
    Type.String({ minLength: 1, maxLength: 64 }),
    "Name of the tag: a member of the `metadata` of requests, or a name in their header `x-tags`. Null unless `subject` is `tag`.",
  ),
  period: Type.Enum([...budgetPeriods], {
    description: "Period of the calendar after which the budget starts again; weeks start on Monday. `total`: never.",
  }),
  time_zone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: "Time zone in which periods begin: an IANA name such as `Europe/Berlin`.",
  }),
};

const money = (description: string) => Type.Number({ minimum: 0, description });

const budgetUse = {
  used: money("Cost of the calls that have ended, as far as servers have written it: they do so every 2 seconds."),
  reserved: money("What calls that are running may cost at most."),
  remaining: nullable(money("What is left."), "What is left; null if each value has its own."),
};

const budget = Type.Object(
  {
    object: Type.Literal("budget", { description: "Always `budget`." }),
    id: Type.String({ description: "Identifier of the budget." }),
    organization_id: Type.String({ description: "Identifier of the organization." }),
    name,
    ...changeable,
    ...fixed,
    period_starts_at: nullable(Type.Integer(), "Start of the current period, UNIX seconds; null if it has none."),
    resets_at: nullable(Type.Integer(), "When the budget starts again, UNIX seconds; null if it does not."),
    operator: Type.Boolean({
      description: "Whether an operator key created the budget. Only operator keys can change or delete it then.",
    }),
    ...budgetUse,
    values: Type.Optional(
      Type.Array(
        Type.Object(
          {
            value: Type.String({ description: "The project, key, end user, model or value of the tag." }),
            ...budgetUse,
          },
          { description: "What one value has used." },
        ),
        { description: "The 100 values that have used the most; only of one budget for each value." },
      ),
    ),
    created_at: Type.Integer({ description: "Creation, UNIX seconds." }),
    updated_at: Type.Integer({ description: "Last change, UNIX seconds." }),
  },
  { description: "A budget, and what is used of it in the current period." },
);
export const Budget = schema(budget);
export type Budget = TypeOf<typeof Budget>;

export const BudgetCreate = schema(
  Type.Object(
    {
      organization_id: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description: "Identifier or name of the organization. Absent: the caller's own.",
        }),
      ),
      name,
      amount: changeable.amount,
      enforced: Type.Optional(changeable.enforced),
      thresholds: Type.Optional(changeable.thresholds),
      unpriced: Type.Optional(changeable.unpriced),
      currency: Type.Optional(fixed.currency),
      subject: Type.Optional(fixed.subject),
      value: Type.Optional(fixed.value),
      tag: Type.Optional(fixed.tag),
      period: Type.Optional(fixed.period),
      time_zone: Type.Optional(fixed.time_zone),
    },
    {
      ...strict,
      description:
        "A new budget. Absent members: enforced, no thresholds, unpriced calls are refused, the server's currency, the whole organization, per month, UTC.",
    },
  ),
);
export type BudgetCreate = TypeOf<typeof BudgetCreate>;

export const BudgetUpdate = schema(
  Type.Object(
    {
      name: Type.Optional(name),
      amount: Type.Optional(changeable.amount),
      enforced: Type.Optional(changeable.enforced),
      thresholds: Type.Optional(changeable.thresholds),
      unpriced: Type.Optional(changeable.unpriced),
    },
    { ...strict, description: "Changes to a budget. What it counts does not change: create another budget for that." },
  ),
);
export type BudgetUpdate = TypeOf<typeof BudgetUpdate>;

export const BudgetPage = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(budget, { description: "The budgets, oldest first unless `order` is `desc`." }),
      has_more: Type.Boolean({ description: "Whether there are more pages." }),
      last_id: Type.Union([Type.String(), Type.Null()], {
        description: "Identifier of the last item; send it as `after` to get the next page.",
      }),
    },
    { description: "A page of budgets." },
  ),
);

export const listBudgetsOperation = operation({
  ...reading,
  id: "listBudgets",
  method: "GET",
  path: root,
  summary: "List budgets with what is used of them",
  queryParameters: {
    limit: "Page size, 1 to 100; default 20.",
    after: "Identifier that the page starts after: `last_id` of the previous page.",
    order: "`asc` (default): oldest first; `desc`: newest first.",
    organization_id:
      "Identifier or name of the organization. Absent: the caller's own, or all organizations for an operator key.",
    name: "Only the budget with this name.",
    search: "Only budgets whose name or identifier contains this text.",
  },
  answer: { type: "application/json", schema: BudgetPage, description: "A page of budgets." },
});

export const createBudgetOperation = operation({
  ...administration,
  id: "createBudget",
  method: "POST",
  path: root,
  summary: "Create a budget",
  description: "It applies to new calls at once, on other servers within seconds. It counts from then on.",
  body: BudgetCreate,
  answer: { type: "application/json", schema: Budget, description: "The new budget.", status: 201 },
  example: {
    name: "each user",
    amount: 5,
    subject: "user",
    period: "day",
    time_zone: "Europe/Berlin",
    thresholds: [80],
  },
});

const one = { path: `${root}/{budget_id}`, pathParameters: { budget_id: "Identifier of the budget." } };

export const getBudgetOperation = operation({
  ...reading,
  ...one,
  id: "getBudget",
  method: "GET",
  summary: "Show a budget with what is used of it",
  answer: { type: "application/json", schema: Budget, description: "The budget." },
});

export const updateBudgetOperation = operation({
  ...administration,
  ...one,
  id: "updateBudget",
  method: "PATCH",
  summary: "Change a budget",
  description: "What is used of it stays. A threshold that was reported in this period is not reported again.",
  body: BudgetUpdate,
  answer: { type: "application/json", schema: Budget, description: "The updated budget." },
  example: { amount: 20 },
});

export const deleteBudgetOperation = operation({
  ...administration,
  ...one,
  id: "deleteBudget",
  method: "DELETE",
  summary: "Delete a budget, and what is recorded of its use",
  answer: { type: "application/json", schema: Budget, description: "The budget as it was." },
});

export const budgetOperations: readonly Operation[] = [
  listBudgetsOperation,
  createBudgetOperation,
  getBudgetOperation,
  updateBudgetOperation,
  deleteBudgetOperation,
];
