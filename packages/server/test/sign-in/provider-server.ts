/** A server whose people sign in at a real provider, two organizations, and people, for tests of signing in. */
import { clientId, clientSecret, type TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import type { ProviderSettings } from "../../src/config/sign-in.ts";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { createProject } from "../../src/tenancy/projects.ts";
import { providerSettings } from "../support/provider-settings.ts";
import { startSessionServer, type SessionServerOptions } from "../tenancy/session-server.ts";

const rules: ProviderSettings["rules"] = [
  { values: ["ops"], organization: "acme", role: "admin" },
  { values: ["dev"], organization: "acme", role: "viewer" },
  { values: ["both"], organization: "acme", role: "viewer" },
  { values: ["both"], organization: "globex", project: "web", role: "member" },
  { values: ["globex"], organization: "globex", role: "admin" },
  { values: ["nowhere"], organization: "missing", role: "admin" },
];

export async function startProviderServer(
  control: ControlDatabase,
  idp: TestIdentityProvider,
  changes: Partial<ProviderSettings> = {},
  options: Omit<SessionServerOptions, "providers"> = {},
) {
  const acme = providerSettings({
    issuer: idp.issuer,
    client_id: clientId,
    client_secret: clientSecret,
    label: "Acme",
    scopes: ["email", "profile", "groups"],
    rules,
    ...changes,
  });
  return await startSessionServer(control, { providers: { acme }, ...options });
}

/** The organizations that the rules name. */
export async function createOrganizations(control: ControlDatabase) {
  await bootstrap(control);
  const acme = await createOrganization(control, { name: "acme" });
  const globex = await createOrganization(control, { name: "globex" });
  await createProject(control, { organizationId: globex.id, name: "web" });
  return { acme: acme.id, globex: globex.id };
}

export const newPerson = (name: string, ...groups: string[]) => ({
  sub: `${name}-${crypto.randomUUID()}`,
  email: `${name}@example.com`,
  email_verified: true,
  name,
  groups,
});
