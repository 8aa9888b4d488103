/** A server of the takeover test in its own process: evaluates rules, and prints a line for each change. */
import { configured, emptyStore, settingsWith } from "./alerts-fixture.ts";
import { createAlerts } from "../../src/alerts/alerts.ts";
import { openControlDatabase } from "../../src/tenancy/control-database.ts";

const { url, dataDirectory } = JSON.parse(process.argv[2]!) as { url: string; dataDirectory: string };
const control = await openControlDatabase({ url, dataDirectory });
const say = (fields: object): void => void process.stdout.write(`${JSON.stringify(fields)}\n`);
createAlerts({
  settings: settingsWith({}),
  groups: [configured({ name: "g", interval: "1s", rules: [{ alert: "Always", expr: "vector(1)", for: "1h" }] })],
  control,
  store: emptyStore(),
  url: "http://sounding.test",
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  observer: {
    countEvaluation: () => say({ evaluated: true }),
    countSkippedGroup() {},
    countNotifications() {},
    watchAlerts() {},
  },
});
