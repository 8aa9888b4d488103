/** Which third-party programs this machine has, for tests that need them. */
import { findInstallation } from "../../packages/server/src/engines/pocketsphinx/installation.ts";

export function hasPocketSphinx(): boolean {
  try {
    findInstallation({ library: undefined, modelDirectory: undefined });
    return true;
  } catch {
    return false;
  }
}
