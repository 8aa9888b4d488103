/** The name of a worker's own folder in the journal and in the uploads. */
export function folderOf(number: number): string {
  return `worker-${number}`;
}
