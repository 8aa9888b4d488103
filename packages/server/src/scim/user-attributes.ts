/** What a provider says about a user: reads resources and changes, as providers write them, into one form. */
import { isObject, type JsonObject } from "../json-object.ts";
import { scimError } from "./scim-error.ts";

export interface UserName {
  readonly formatted?: string | undefined;
  readonly givenName?: string | undefined;
  readonly familyName?: string | undefined;
}

export interface UserEmail {
  readonly value: string;
  readonly type?: string | undefined;
  readonly primary?: boolean | undefined;
}

export interface UserAttributes {
  readonly userName: string;
  readonly externalId: string | undefined;
  readonly displayName: string | undefined;
  readonly name: UserName;
  readonly emails: readonly UserEmail[];
  readonly active: boolean;
}

const longestText = 500;
const longestAddress = 254;
const mostEmails = 20;

/** The user of a request that creates or replaces one. @throws AppError invalid_request (invalidValue) */
export function readUser(body: object): UserAttributes {
  const members = lowerCaseMembers(body as JsonObject);
  const user: UserAttributes = {
    userName: requiredText("userName", members["username"]),
    externalId: readText("externalId", members["externalid"]),
    displayName: readText("displayName", members["displayname"]),
    name: readName(members["name"]),
    emails: readEmails(members["emails"]),
    active: members["active"] == null ? true : readBoolean("active", members["active"]),
  };
  return checked(user);
}

/** @throws AppError invalid_request (invalidValue) */
export function checked(user: UserAttributes): UserAttributes {
  addressOf(user);
  return user;
}

/** The address with which the person signs in. @throws AppError invalid_request (invalidValue) */
export function addressOf({ emails, userName }: Pick<UserAttributes, "emails" | "userName">): string {
  const address = (emails.find(({ primary }) => primary === true) ?? emails[0])?.value ?? userName;
  if (/^[^\s@]+@[^\s@]+$/.test(address) && address.length <= longestAddress) return address;
  throw scimError(
    "invalidValue",
    `The user's address is ${JSON.stringify(address.slice(0, 100))}; expected a mail address of at most ${longestAddress} characters in emails or userName.`,
    "emails",
  );
}

/** The name for display. */
export function nameOf({ displayName, name }: UserAttributes): string | undefined {
  const joined = [name.givenName, name.familyName].filter((part) => part !== undefined).join(" ");
  const chosen = displayName ?? name.formatted ?? joined;
  return chosen === "" ? undefined : chosen.slice(0, 128).toWellFormed();
}

/** Attribute names are not case-sensitive. */
export function lowerCaseMembers(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
}

export function requiredText(name: string, value: unknown): string {
  const text = readText(name, value);
  if (text !== undefined) return text;
  throw scimError("invalidValue", `${name} is missing; expected a text.`, name);
}

/** Undefined for null, an empty text and an absent member. */
export function readText(name: string, value: unknown): string | undefined {
  if (value == null || value === "") return undefined;
  if (typeof value === "string" && value.length <= longestText) return value.toWellFormed();
  throw invalid(name, value, `a text of at most ${longestText} characters`);
}

/** Entra ID sends booleans as text, unless it is told otherwise. */
export function readBoolean(name: string, value: unknown): boolean {
  if (value === true || value === false) return value;
  if (typeof value === "string" && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
  throw invalid(name, value, "true or false");
}

export function readName(value: unknown): UserName {
  if (value == null) return {};
  if (!isObject(value)) throw invalid("name", value, "an object");
  const members = lowerCaseMembers(value);
  return {
    formatted: readText("name.formatted", members["formatted"]),
    givenName: readText("name.givenName", members["givenname"]),
    familyName: readText("name.familyName", members["familyname"]),
  };
}

export function readEmails(value: unknown): readonly UserEmail[] {
  if (value == null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > mostEmails)
    throw scimError("invalidValue", `emails has ${list.length} items; expected at most ${mostEmails}.`, "emails");
  return list.flatMap((each) => {
    if (!isObject(each)) throw invalid("emails", each, 'objects with "value"');
    const members = lowerCaseMembers(each);
    const address = readText("emails.value", members["value"]);
    if (address === undefined) return [];
    const primary = members["primary"] == null ? undefined : readBoolean("emails.primary", members["primary"]);
    return [{ value: address, type: readText("emails.type", members["type"]), primary }];
  });
}

export function invalid(name: string, value: unknown, expected: string): Error {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? "undefined";
  return scimError("invalidValue", `${name} is ${shown}; expected ${expected}.`, name);
}
