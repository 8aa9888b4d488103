/**
 * Changes to users and groups, in the forms in which Okta and Entra ID send them (RFC 7644, section 3.5.2). Attributes that are not
 * stored are accepted and ignored.
 */
import type { ScimPatchBody } from "../api/scim.ts";
import { isObject } from "../json-object.ts";
import { knownAttribute } from "./filter.ts";
import { readMembers } from "./members.ts";
import { scimError } from "./scim-error.ts";
import {
  checked,
  readBoolean,
  readEmails,
  readName,
  readText,
  requiredText,
  type UserAttributes,
  type UserEmail,
} from "./user-attributes.ts";

type Action = "add" | "replace" | "remove";

/** One attribute and what happens to it. */
interface Change {
  readonly action: Action;
  readonly path: string;
  readonly value: unknown;
}

/** The changes one by one: an operation without a path has an object of attributes. */
function changesOf({ Operations }: ScimPatchBody): readonly Change[] {
  return Operations.flatMap(({ op, path, value }) => {
    const action = op.toLowerCase();
    if (action !== "add" && action !== "replace" && action !== "remove")
      throw scimError("invalidValue", `op is ${JSON.stringify(op)}; expected "add", "replace" or "remove".`, "op");
    if (path !== undefined && path !== "") return [{ action, path, value }];
    if (action === "remove") throw scimError("noTarget", "An operation to remove needs a path.", "path");
    if (!isObject(value)) throw scimError("invalidValue", "An operation without a path needs an object.", "value");
    return Object.entries(value).map(([name, member]) => ({ action, path: name, value: member }));
  });
}

const userPaths = [
  "userName",
  "externalId",
  "displayName",
  "active",
  "name",
  "name.formatted",
  "name.givenName",
  "name.familyName",
  "emails",
] as const;
const emailPath = /^emails\[\s*(type|primary)\s+eq\s+"?([^"\]]{1,100})"?\s*\](?:\.(value|type|primary))?$/i;

/** @throws AppError invalid_request */
export function patchUser(user: UserAttributes, body: ScimPatchBody): UserAttributes {
  const changed = { ...user };
  for (const change of changesOf(body)) Object.assign(changed, userChange(changed, change));
  return checked(changed);
}

function userChange(user: UserAttributes, { action, path, value: given }: Change): Partial<UserAttributes> {
  const value = action === "remove" ? undefined : given;
  const ofEmail = emailPath.exec(path);
  if (ofEmail !== null) return { emails: changeEmail(user.emails, ofEmail, value) };
  const known = knownAttribute(path, userPaths);
  switch (known) {
    case undefined:
      return {};
    case "userName":
      return { userName: requiredText(known, value) };
    case "externalId":
    case "displayName":
      return { [known]: readText(known, value) };
    case "active":
      return { active: readBoolean(known, value) };
    case "name":
      return { name: action === "remove" ? {} : { ...user.name, ...definedOnly(readName(value)) } };
    case "emails": {
      const emails = readEmails(value);
      if (action !== "add") return { emails };
      const kept = user.emails.filter((each) => !emails.some((added) => added.value === each.value));
      return { emails: readEmails([...kept, ...emails]) };
    }
    case "name.formatted":
    case "name.givenName":
    case "name.familyName":
      return { name: { ...user.name, [known.slice("name.".length)]: readText(known, value) } };
  }
}

/** `emails[type eq "work"].value`, which Entra ID also sends for a type that the user does not have yet. */
function changeEmail(
  emails: readonly UserEmail[],
  [, attribute = "", wanted = "", part = "value"]: RegExpExecArray,
  value: unknown,
): readonly UserEmail[] {
  const byType = attribute.toLowerCase() === "type";
  const matches = (email: UserEmail): boolean =>
    byType
      ? email.type?.toLowerCase() === wanted.toLowerCase()
      : String(email.primary === true) === wanted.toLowerCase();
  if (value === undefined) return emails.filter((email) => !matches(email));
  const fields = isObject(value) ? value : { [part.toLowerCase()]: value };
  if (emails.some(matches)) {
    return readEmails(emails.map((email) => (matches(email) ? { ...email, ...fields } : email)));
  }
  const added = byType ? { type: wanted } : { primary: wanted };
  return readEmails([...emails, { ...added, ...fields }]);
}

function definedOnly<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>;
}

export interface GroupChange {
  displayName?: string;
  externalId?: string | undefined;
  /** Undefined: those that the group has. */
  members?: readonly string[];
  readonly added: Set<string>;
  readonly removed: Set<string>;
}

const groupPaths = ["displayName", "externalId", "members"] as const;
const memberPath = /^members\[\s*value\s+eq\s+"([^"\]]{1,100})"\s*\]$/i;

/** @throws AppError invalid_request */
export function patchGroup(body: ScimPatchBody): GroupChange {
  const change: GroupChange = { added: new Set(), removed: new Set() };
  for (const each of changesOf(body)) changeGroup(change, each);
  return change;
}

function changeGroup(change: GroupChange, { action, path, value }: Change): void {
  const one = memberPath.exec(path)?.[1];
  const known = one === undefined ? knownAttribute(path, groupPaths) : "members";
  if (known === "displayName") change.displayName = requiredText(known, action === "remove" ? undefined : value);
  if (known === "externalId") change.externalId = action === "remove" ? undefined : readText(known, value);
  if (known !== "members") return;
  const isWhole = one === undefined && (action === "replace" || (action === "remove" && value == null));
  const ids = one === undefined ? readMembers(value) : [one];
  if (isWhole) {
    change.members = ids;
    change.added.clear();
    change.removed.clear();
    return;
  }
  const [into, outOf] = action === "remove" ? [change.removed, change.added] : [change.added, change.removed];
  for (const id of ids) {
    into.add(id);
    outOf.delete(id);
  }
}
