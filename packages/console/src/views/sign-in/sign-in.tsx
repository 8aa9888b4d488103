/** The page for those who are not signed in. */
import { EmptyState } from "../../design/states.tsx";

export function SignIn() {
  return (
    <EmptyState title="Sign in" icon="key">
      <p>
        Run <code>sounding console</code> on this machine to get a link.
      </p>
    </EmptyState>
  );
}
