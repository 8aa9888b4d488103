/** Starts a server in its own process: opens the control database, bootstraps, prints the result as JSON. */
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import { openControlDatabase } from "../../src/tenancy/control-database.ts";

const { adminKey, ...location } = JSON.parse(process.argv[2]!) as {
  url?: string;
  dataDirectory: string;
  adminKey?: string;
};
const control = await openControlDatabase(location);
const first = await bootstrap(control, { adminKey });
await control.close();
process.stdout.write(JSON.stringify(first ?? null));
