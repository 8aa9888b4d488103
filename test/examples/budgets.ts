// Limits what each user may cost in a day, and prints what users and models have cost in the last 30 days.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding({ apiKey: process.env["SOUNDING_ADMIN_KEY"] });

const budget = await sounding.budgets.create({
  name: "each user",
  amount: 5,
  subject: "user",
  period: "day",
  thresholds: [80],
});
const { currency, values = [] } = await sounding.budgets.retrieve(budget.id);
for (const { remaining, value } of values) console.log(`${value} has ${remaining} ${currency} left today`);

const spend = await sounding.spend.query({ by: ["user", "model"] });
for (const { cost, group } of spend.data) console.log(group["user"] ?? "no user", group["model"], cost);

const prices = await sounding.models.prices();
for (const { model, source } of prices.data) console.log(model, source);
