/** Checks whether the package of the embedded store is installed. It is optional because some platforms have no build of it. */
export function embeddedStoreIsInstalled(): boolean {
  try {
    import.meta.resolve("chdb");
    return true;
  } catch {
    return false;
  }
}
