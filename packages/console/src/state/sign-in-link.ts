/** Signs in with the code of a link: `/console/sign-in#code=…`. The code leaves the address before anything else happens. */
import { href, navigate, viewId } from "./address.ts";
import { endReason, loadSession, session, signIn } from "./session.ts";
import type { ApiError } from "../api/request.ts";

const viewOfLinks = "sign-in";

/** A code that the server has not answered yet. */
let code: string | undefined;

/** Asks who is signed in, or signs in if the address is a link. @throws ApiError if the server cannot be asked */
export async function openSession(): Promise<void> {
  code = takeCode() ?? code;
  if (code === undefined) await loadSession();
  else await signInWith(code);
  if (session.value && viewId.value === viewOfLinks) navigate(href(""), { replace: true });
}

/** The code in the address, which is removed from it and from the history. */
function takeCode(): string | undefined {
  if (viewId.value !== viewOfLinks || location.hash === "") return undefined;
  const found = new URLSearchParams(location.hash.slice(1)).get("code");
  history.replaceState(null, "", location.pathname + location.search);
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
