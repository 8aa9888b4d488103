/** Reads the claims of a token or of a provider's userinfo: who it is, and which roles the rules give them. */
import type { ProviderSettings, SignInRule } from "../config/sign-in.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import { matchesName } from "../routing/model-access.ts";

/** A membership that a rule gives. */
export interface Grant {
  /** Name of the organization. */
  readonly organization: string;
  /** Name of the project; undefined: the whole organization. */
  readonly project: string | undefined;
  readonly role: string;
}

/** Who signed in, as the provider says. */
export interface Identity {
  /** The provider's name in the configuration. */
  readonly provider: string;
  /** Identifies the person or machine at the provider, for ever. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider vouches for the address. */
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  readonly grants: readonly Grant[];
}

type ClaimSettings = Pick<ProviderSettings, "claims" | "rules" | "trust_emails">;

const longestEmail = 320;
const longestName = 200;
/** Values of a claim that rules look at. */
const maximumValues = 5_000;

export function identityOf(provider: string, subject: string, claims: JsonObject, settings: ClaimSettings): Identity {
  const name = textAt(claims, settings.claims.name, longestName);
  return {
    provider,
    subject,
    email: textAt(claims, settings.claims.email, longestEmail),
    emailVerified: isVerified(claims, settings),
    name: name ?? textAt(claims, "preferred_username", longestName),
    grants: grantsOf(claims, settings),
  };
}

/** The memberships that the rules give: of the rules for one place that apply, the first. */
export function grantsOf(claims: JsonObject, settings: ClaimSettings): readonly Grant[] {
  const grants = new Map<string, Grant>();
  for (const rule of settings.rules) {
    const { organization, project, role } = rule;
    const place = JSON.stringify([organization, project]);
    if (!grants.has(place) && applies(rule, claims, settings)) grants.set(place, { organization, project, role });
  }
  return [...grants.values()];
}

function applies({ claim, values }: SignInRule, claims: JsonObject, settings: ClaimSettings): boolean {
  if (claim === undefined && values === undefined) return true;
  const name = claim ?? settings.claims.groups;
  // An address that nobody checked may be anyone's.
  if (name === settings.claims.email && !isVerified(claims, settings)) return false;
  const found = valuesAt(claims, name);
  return (values ?? ["*"]).some((pattern) => found.some((value) => matchesName(pattern, value)));
}

function isVerified({ email_verified: verified }: JsonObject, settings: ClaimSettings): boolean {
  return settings.trust_emails || verified === true || verified === "true";
}

/** The texts, numbers and booleans of a claim, as texts. */
function valuesAt(claims: JsonObject, name: string): readonly string[] {
  const value = claimAt(claims, name);
  const values: readonly unknown[] = Array.isArray(value) ? value.slice(0, maximumValues) : [value];
  return values
    .filter((each) => typeof each === "string" || typeof each === "number" || typeof each === "boolean")
    .map(String);
}

function textAt(claims: JsonObject, name: string, longest: number): string | undefined {
  const value = claimAt(claims, name);
  if (typeof value !== "string" || value === "" || value.length > longest) return undefined;
  return value.toWellFormed();
}

/** Whether the claim is there. */
export function hasClaim(claims: JsonObject, name: string): boolean {
  return claimAt(claims, name) !== undefined;
}

/** A claim by its name, which may contain dots (`https://acme.example/roles`); otherwise dots lead into objects. */
function claimAt(claims: JsonObject, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}
