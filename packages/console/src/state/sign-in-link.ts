/**
 * Signs in with the code of a link, `/console/sign-in#code=…`, and reads links to choose a password, `#link=…&email=…`. Secrets leave the
 * address before anything else happens.
 */
import { signal } from "@preact/signals";
import { href, navigate, viewId } from "./address.ts";
import { endReason, loadSession, session, signIn } from "./session.ts";
import type { ApiError } from "../api/request.ts";

const viewOfLinks = "sign-in";

export interface AccountLink {
  readonly token: string;
  readonly email: string;
}

/** The link of an operator with which the page was opened. */
export const accountLink = signal<AccountLink | undefined>(undefined);

/** A code that the server has not answered yet. */
let code: string | undefined;

/** Asks who is signed in, or signs in if the address is a link. @throws ApiError if the server cannot be asked */
export async function openSession(): Promise<void> {
  code = takeCode() ?? code;
  if (code === undefined) await loadSession();
  else await signInWith(code);
  const isOver = accountLink.value === undefined && viewId.value === viewOfLinks;
  if (session.value && isOver) navigate(href(""), { replace: true });
}

/** The code in the address, which is removed from it and from the history. */
function takeCode(): string | undefined {
  if (viewId.value !== viewOfLinks || location.hash === "") return undefined;
  const given = new URLSearchParams(location.hash.slice(1));
  const [found, token] = [given.get("code"), given.get("link")];
  history.replaceState(null, "", location.pathname + location.search);
  if (token !== null && token !== "") accountLink.value = { token, email: given.get("email") ?? "" };
  return found === null || found === "" ? undefined : found;
}

async function signInWith(sent: string): Promise<void> {
  try {
    await signIn({ code: sent });
    code = undefined;
  } catch (error) {
    const { status, message } = error as ApiError;
    if (status === 0 || status >= 500) throw error;
    code = undefined;
    // Someone who opens a used link again may be signed in already.
    await loadSession();
    if (session.value === null) endReason.value = message;
  }
}
