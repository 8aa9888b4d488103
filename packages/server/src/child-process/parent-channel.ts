/** The child's end of an `IpcProcess`: ties the life of the process to the channel, so that it never outlives the server. */

export function sendToParent(message: object): void {
  if (process.connected) process.send?.(message);
}

/**
 * @param onMessage takes the messages of the engine's protocol
 * @param onDisconnect called when the server has exited, for any reason
 */
export function listenToParent(
  onMessage: (message: never) => void,
  onDisconnect: () => void = () => process.exit(),
): void {
  process.on("message", (message) => onMessage(message as never));
  process.on("disconnect", onDisconnect);
  // Ctrl-C reaches the whole process group; the server finishes its calls first and then closes the channel.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
}
