/** Whether the embedded store can be there: its package is an optional one, since not every platform has a build of it. */
export function embeddedStoreIsInstalled(): boolean {
  try {
    import.meta.resolve("chdb");
    return true;
  } catch {
    return false;
  }
}
