/** The child's end of an `IpcProcess`: ties the life of the process to the channel, so that it never outlives the server. */
import type { Socket } from "node:net";

export function sendToParent(message: object): void {
  // A server that has exited is noticed by the end of the channel.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/**
 * @param onMessage takes the messages of the protocol, and a connection that came with one
 * @param onDisconnect called when the server has exited, for any reason
 */
export function listenToParent(
  onMessage: (message: never, socket?: Socket) => void,
  onDisconnect: () => void = () => process.exit(),
): void {
  process.on("message", (message, handle) => onMessage(message as never, handle as Socket | undefined));
  process.on("disconnect", onDisconnect);
  // Ctrl-C reaches the whole process group; the server finishes its calls first and then closes the channel.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
}
