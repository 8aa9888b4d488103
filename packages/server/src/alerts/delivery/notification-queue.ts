/** What a receiver has not got: served in turns of the organizations, so that none of them holds up or evicts the others. */
import type { Notification } from "./notification.ts";

export class NotificationQueue {
  /** By organization, in the order of their turns; then by the key of the alert, the oldest first. */
  readonly #organizations = new Map<string, Map<string, Notification>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ key, origin }: Notification): Notification | undefined {
    return this.#organizations.get(origin.organization.id)?.get(key);
  }

  /** Adds a notification behind the others, or replaces the one of the same alert in its place. */
  set(notification: Notification): void {
    const { key, origin } = notification;
    let queued = this.#organizations.get(origin.organization.id);
    if (queued === undefined) {
      queued = new Map();
      this.#organizations.set(origin.organization.id, queued);
    }
    if (!queued.has(key)) this.#size += 1;
    queued.set(key, notification);
  }

  delete({ key, origin }: Notification): void {
    const { id } = origin.organization;
    const queued = this.#organizations.get(id);
    if (queued?.delete(key) !== true) return;
    this.#size -= 1;
    if (queued.size === 0) this.#organizations.delete(id);
  }

  /** The notifications of the organization whose turn it is; the others are next. */
  nextTurn(): readonly Notification[] {
    const [next] = this.#organizations;
    if (next === undefined) return [];
    const [id, queued] = next;
    this.#organizations.delete(id);
    this.#organizations.set(id, queued);
    return [...queued.values()];
  }

  /** Moves notifications that are still queued behind the others of their organization. */
  moveBack(notifications: readonly Notification[]): void {
    for (const notification of notifications) {
      const queued = this.get(notification);
      if (queued === undefined) continue;
      this.delete(queued);
      this.set(queued);
    }
  }

  /** Removes the oldest notification of the organization that has the most. */
  dropOldest(): void {
    let longest: Map<string, Notification> | undefined;
    for (const queued of this.#organizations.values()) if (queued.size > (longest?.size ?? 0)) longest = queued;
    const oldest = longest?.values().next().value;
    if (oldest !== undefined) this.delete(oldest);
  }

  /** @returns how many were removed */
  deleteQueuedBefore(ms: number): number {
    const before = this.#size;
    for (const queued of this.#organizations.values()) {
      for (const notification of queued.values()) if (notification.queuedAtMs < ms) this.delete(notification);
    }
    return before - this.#size;
  }
}
