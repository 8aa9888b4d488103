/**
 * A network of hosts, each in a network namespace of its own, joined by a bridge in the namespace of this process, which must be
 * a new one (`unshare --net`). A cut link loses packets silently, as a broken network does.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { pathOf } from "../support/needs.ts";

export interface Host {
  readonly address: string;
  /** Runs a command on the host. */
  readonly prefix: readonly string[];
}

export interface Network extends Disposable {
  /** The address of this process. */
  readonly address: string;
  addHost(): Promise<Host>;
  /** Packets between the two hosts are lost until the link is healed. */
  cut(one: Host, other: Host): void;
  heal(one: Host, other: Host): void;
}

const subnet = "10.77.0";
/** A hardware address that no host has: frames to it arrive nowhere. */
const nowhere = "02:00:00:00:00:01";

export function createNetwork(): Network {
  const holders: ChildProcess[] = [];
  const address = `${subnet}.254`;
  ip(["link", "set", "lo", "up"]);
  ip(["link", "add", "bridge", "type", "bridge"]);
  ip(["address", "add", `${address}/24`, "dev", "bridge"]);
  ip(["link", "set", "bridge", "up"]);
  return {
    address,
    async addHost() {
      const holder = spawn("unshare", ["--net", "sh", "-c", "echo ready; exec sleep infinity"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      const number = holders.push(holder);
      await once(holder.stdout, "data");
      const host: Host = {
        address: `${subnet}.${number}`,
        prefix: ["nsenter", `--net=/proc/${holder.pid}/ns/net`, "--"],
      };
      ip(["link", "add", `host${number}`, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid)]);
      ip(["link", "set", `host${number}`, "master", "bridge", "up"]);
      ip(["address", "add", `${host.address}/24`, "dev", "eth0"], host);
      ip(["link", "set", "eth0", "up"], host);
      ip(["link", "set", "lo", "up"], host);
      return host;
    },
    cut(one, other) {
      for (const [from, to] of [
        [one, other],
        [other, one],
      ] as const)
        ip(["neighbor", "replace", to.address, "lladdr", nowhere, "dev", "eth0", "nud", "permanent"], from);
    },
    heal(one, other) {
      ip(["neighbor", "del", other.address, "dev", "eth0"], one);
      ip(["neighbor", "del", one.address, "dev", "eth0"], other);
    },
    [Symbol.dispose]() {
      for (const holder of holders) holder.kill("SIGKILL");
    },
  };
}

function ip(args: readonly string[], host?: Host): void {
  const [program, ...rest] = [...(host?.prefix ?? []), pathOf("ip")!, ...args];
  execFileSync(program!, rest, { stdio: ["ignore", "ignore", "inherit"] });
}
